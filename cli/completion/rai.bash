# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Completion of the rai command for bash. What there is to choose from, rai says itself.

_rai_verbs() { "$@" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }
_rai_options() { "$@" --help 2>/dev/null | sed -nE 's/^ +(-.,? *)?(--[a-z-]+).*/\2/p'; }
_rai_ports() { "$1" ports 2>/dev/null | sed -nE 's,^([^ ]+/[0-9]+) .*,\1,p'; }

# The hosts of the fabric that the shell is in, where it is in one.
_rai_hosts() { [ -z "${RAI_FABRIC_DIR-}" ] || sed -nE 's/^Hca.*"(.*)"$/\1/p' "$RAI_FABRIC_DIR/net.topo" 2>/dev/null; }

# _rai_lab RAI FIRST: what may follow in "lab", whose own words begin at FIRST. 1: a command, and what is for that.
_rai_lab() {
	local at=$(($2 + 1)) kind=${COMP_WORDS[$2]-}
	if ((COMP_CWORD == $2)); then
		words='fabric vm on sm link loss'
		[[ $cur != -* ]] || words=$(_rai_options "$1" lab)
		return 0
	fi
	case $kind in
	fabric | vm)
		case $prev in
		--kernel) words='6.1 newest'; return ;;
		--hosts | --nodes | --time | --on) return ;;
		esac
		for ((; at < COMP_CWORD; at++)); do
			case ${COMP_WORDS[at]} in
			--keep | =) ;;
			--) at=$((at + 1)); break ;;
			-*) [ "${COMP_WORDS[at + 1]-}" != = ] || at=$((at + 1)); at=$((at + 1)) ;;
			*) break ;;
			esac
		done
		if ((at >= COMP_CWORD)) && [[ $cur == -* ]]; then words=$(_rai_options "$1" lab); return; fi
		command=$at
		return 1 ;;
	on)
		if ((COMP_CWORD == at)); then words=$(_rai_hosts); return; fi
		command=$((at + 1))
		return 1 ;;
	sm)
		if ((COMP_CWORD == at)); then words='pause continue stop start restart reload kill'
		elif ((COMP_CWORD == at + 1)); then words=$(_rai_hosts); fi ;;
	link)
		if ((COMP_CWORD == at)); then words='down up'
		elif ((COMP_CWORD == at + 1)); then words=$(_rai_hosts); fi ;;
	loss) ((COMP_CWORD != at)) || words=$(_rai_hosts) ;;
	esac
}

# _rai_command INDEX: the words from there on are another command's.
_rai_command() {
	if (($1 < COMP_CWORD)) && declare -F _command_offset >/dev/null; then _command_offset "$1"
	elif (($1 >= COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); fi
}

_rai() {
	local rai=$1 cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' words='' i command
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
		if [[ $cur == -* ]] && ((i >= COMP_CWORD)); then words=$(_rai_options "$rai" run)
		else _rai_command "$i"; return; fi ;;
	lab) _rai_lab "$rai" "$((i + 1))" || { _rai_command "$command"; return; } ;;
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
			elif [[ $verb == resolve || $verb == explain || $verb == ping ]]; then
				if ((COMP_CWORD == i + 1)); then mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
				else mapfile -t COMPREPLY < <(compgen -A service -- "$cur"); fi
				return
			fi ;;
		esac ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _rai rai
