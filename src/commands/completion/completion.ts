import { Argument } from 'commander';
import { completionScripts, shells, type Shell } from './scripts.ts';
import type { DefineCommand } from '../context/options.ts';

/** Defines `ostiary completion`. */
export const defineCompletion: DefineCommand = (command, run) => {
  command
    .addArgument(new Argument('<shell>', 'your shell').choices([...shells]))
    .addHelpText(
      'after',
      `
Completes commands, flags, targets, and the names of objects in the manifests.
bash: add to ~/.bashrc: source <(ostiary completion bash)
zsh:  add to ~/.zshrc, after compinit: source <(ostiary completion zsh)
fish: ostiary completion fish > ~/.config/fish/completions/ostiary.fish`,
    )
    .action((shell: Shell) =>
      run(({ stdout }) => {
        stdout.write(completionScripts[shell]);
        return Promise.resolve(0);
      }),
    );
};
