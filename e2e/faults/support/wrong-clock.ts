/** The clock of a node's machine, off by as much as a test sets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export class WrongClock {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'stepwright-clock-'));
  readonly #file = path.join(this.#folder, 'wrong-by-ms');

  constructor(wrongMs: number) {
    this.set(wrongMs);
  }

  /** The settings with which a node uses this clock. */
  get settings(): Readonly<Record<string, string>> {
    return {
      CLOCK_FILE: this.#file,
      NODE_OPTIONS: `--import ${new URL('set-clock.mjs', import.meta.url).href}`,
    };
  }

  set(wrongMs: number): void {
    writeFileSync(this.#file, String(wrongMs));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
