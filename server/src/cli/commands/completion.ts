/** `stepwright completion`: prints the completion script for a shell. */
import type { Command } from 'commander';
import { bashCompletion } from '../completion/bash.js';
import { fishCompletion } from '../completion/fish.js';
import { nodesOf } from '../completion/tree.js';
import { zshCompletion } from '../completion/zsh.js';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export type Shell = keyof typeof SHELLS;

export function printCompletion(program: Command, shell: Shell): void {
  process.stdout.write(SHELLS[shell](nodesOf(program)));
}
