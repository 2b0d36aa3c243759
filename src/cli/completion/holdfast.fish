# Completes the words of holdfast in fish: holdfast completion fish > ~/.config/fish/completions/holdfast.fish
function __holdfast_complete
    set -l words (commandline -opc)
    set -l holdfast $words[1]
    set -e words[1]
    set -l typed (commandline -ct | string unescape)
    set -l lines ($holdfast __complete -- $words "$typed" 2>/dev/null </dev/null)
    switch "$lines"
        case \tfiles
            __fish_complete_path "$typed"
        case \tcommands
            __fish_complete_command
        case '*'
            printf '%s\n' $lines
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'
