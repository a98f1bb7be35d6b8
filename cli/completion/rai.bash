# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Completion of the rai command for bash. What there is to choose from, rai says itself.

_rai_verbs() { "$@" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }
_rai_options() { "$@" --help 2>/dev/null | sed -nE 's/^ +(-.,? *)?(--[a-z-]+).*/\2/p'; }
_rai_ports() { "$1" ports 2>/dev/null | sed -nE 's,^([^ ]+/[0-9]+) .*,\1,p'; }

_rai() {
	local rai=$1 cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' words='' i
	COMPREPLY=()
	# "--port=x" comes as three words.
	if [ "$cur" = = ]; then cur=''; elif [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || { verb=${COMP_WORDS[i]}; break; }
	done
	case $verb in
	'') words="$(_rai_verbs "$rai") help --help --usage --version" ;;
	help)
		if ((COMP_CWORD == i + 1)); then words=$(_rai_verbs "$rai")
		elif [ "$prev" = service ]; then words=$(_rai_verbs "$rai" service); fi ;;
	run)
		# The rest is another command's, but for options right behind.
		while ((++i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == -* ]]; do :; done
		if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
			_command_offset "$i"
			return
		fi
		if [[ $cur == -* ]] && ((i >= COMP_CWORD)); then words=$(_rai_options "$rai" run)
		elif ((i >= COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); return
		else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return; fi ;;
	*)
		case "$verb $prev" in
		*' -p' | *' --port') words=$(_rai_ports "$rai") ;;
		'resolve -f' | *' --family') words='inet inet6'; [ "$verb" = explain ] || words+=' ib' ;;
		'explain -f') words='inet inet6' ;;
		'resolve -F' | *' --file') mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
		*)
			if [ "$verb" = service ]; then
				if ((COMP_CWORD == i + 1)); then words="$(_rai_verbs "$rai" service) $(_rai_options "$rai" service)"
				elif [[ $cur == -* ]]; then words=$(_rai_options "$rai" service "${COMP_WORDS[i + 1]}"); fi
			elif [[ $cur == -* ]]; then words=$(_rai_options "$rai" "$verb")
			elif [ "$verb" = lab ] && ((COMP_CWORD == i + 1)); then words='fabric vm on sm link loss'
			elif ((COMP_CWORD == i + 1)); then mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur"); return
			else mapfile -t COMPREPLY < <(compgen -A service -- "$cur"); return; fi ;;
		esac ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _rai rai
