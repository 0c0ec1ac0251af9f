/** What a command has chosen for this process before it starts the server. */
import type { Store } from './store/store.js';

export interface CommandPreset {
  readonly store?: Store;
  /** Whether the command says itself what to try first. */
  readonly hasOwnTip?: boolean;
}

let preset: CommandPreset = {};

/** To be called before `main.ts` is loaded. */
export function presetProcess(chosen: CommandPreset): void {
  preset = chosen;
}

export function presetOfProcess(): CommandPreset {
  return preset;
}
