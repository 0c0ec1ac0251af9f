/** The store of this process, if a command has chosen one before it starts the server. */
import type { Store } from './store.js';

let preset: Store | undefined;

/** To be called before `main.ts` is loaded. */
export function presetStore(store: Store): void {
  preset = store;
}

export function storeOfProcess(): { readonly store?: Store } {
  return preset === undefined ? {} : { store: preset };
}
