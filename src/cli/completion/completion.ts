// holdfast completion: prints the script with which a shell asks us (next-words.ts) for completions.
import { readFileSync } from 'node:fs'
import { Argument, type Command } from 'commander'
import type { Word } from '../command.ts'
import { withExample } from '../example.ts'
import { terminal } from '../terminal.ts'

const HOW_TO = `
To have it in every new shell:
  bash  echo 'source <(holdfast completion bash)' >> ~/.bashrc
  zsh   echo 'source <(holdfast completion zsh)' >> ~/.zshrc   (below the line with compinit)
  fish  holdfast completion fish > ~/.config/fish/completions/holdfast.fish`

export function addCommands(program: Command, { name, help }: Word): void {
  withExample(program.command(name).description(help), 'completion bash')
    .addArgument(new Argument('<shell>', 'whose script to print').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', HOW_TO)
    .action((shell: string) => {
      terminal().stdout.write(readFileSync(new URL(`holdfast.${shell}`, import.meta.url), 'utf8'))
    })
}
