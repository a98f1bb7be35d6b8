# SPDX-License-Identifier: BSD-2-Clause
# Completion of the rai command for fish. What there is to choose from, rai says itself.

function __rai_verbs
    rai help 2>/dev/null | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) +(.*)/\1\t\2/p'
    printf 'help\tlist the commands, or tell the options of one\n'
end

function __rai_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

function __rai_options
    set -l verb (__rai_verb)
    set -l words (commandline -opc)
    if test "$verb" = service; and test (count $words) -ge 3
        set verb service $words[3]
    end
    rai $verb --help 2>/dev/null | sed -nE 's/^ +(-.,? *)?(--[a-z-]+).*/\2/p'
end

function __rai_ports
    rai ports 2>/dev/null | sed -nE 's,^([^ ]+/[0-9]+) .*,\1,p'
end

function __rai_actions
    rai service --help 2>/dev/null | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p'
end

function __rai_previous
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

# __rai_lab COUNT KIND...: so many words stand before the one to be completed, and the lab is of one of these kinds.
function __rai_lab
    set -l words (commandline -opc)
    test (count $words) -eq $argv[1]; and test "$words[2]" = lab; and contains -- "$words[3]" $argv[2..-1]
end

# The hosts of the fabric that the shell is in, where it is in one.
function __rai_hosts
    set -q RAI_FABRIC_DIR; and sed -nE 's/^Hca.*"(.*)"$/\1/p' $RAI_FABRIC_DIR/net.topo 2>/dev/null
end

complete -c rai -f
complete -c rai -n 'test (count (commandline -opc)) -eq 1' -a '(__rai_verbs)'
complete -c rai -n 'contains -- help (__rai_verb); and test (count (commandline -opc)) -eq 2' -a '(__rai_verbs)'
complete -c rai -n 'contains -- help (__rai_verb); and __rai_previous service' -a '(__rai_actions)'
complete -c rai -n 'test (count (commandline -opc)) -ge 2; and string match -q -- "-*" (commandline -ct)' -a '(__rai_options)'
complete -c rai -n '__rai_previous -p --port' -a '(__rai_ports)'
complete -c rai -n 'contains -- (__rai_verb) resolve explain; and __rai_previous -f --family' -a 'inet inet6'
complete -c rai -n 'contains -- resolve (__rai_verb); and __rai_previous -f --family' -a ib
complete -c rai -n 'contains -- resolve (__rai_verb); and __rai_previous -F --file' -F
complete -c rai -n 'contains -- lab (__rai_verb); and test (count (commandline -opc)) -eq 2' -a 'fabric vm on sm link loss'
complete -c rai -n '__rai_lab 3 sm' -a 'pause continue stop start restart reload kill'
complete -c rai -n '__rai_lab 3 link' -a 'down up'
complete -c rai -n '__rai_lab 3 on loss; or __rai_lab 4 sm link' -a '(__rai_hosts)'
complete -c rai -n 'contains -- lab (__rai_verb); and __rai_previous --kernel' -a '6.1 newest'
complete -c rai -n 'contains -- service (__rai_verb); and test (count (commandline -opc)) -eq 2' -a '(__rai_actions)'
complete -c rai -n 'contains -- run (__rai_verb)' -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c rai -n 'contains -- (__rai_verb) resolve explain ping; and not __rai_previous -p --port -f --family -F --file' -a '(__fish_print_hostnames)'
