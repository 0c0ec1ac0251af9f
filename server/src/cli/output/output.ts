/** Where commands print: results to standard output, everything else to standard error. */
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import { painterFor, type Paint, type Style } from './paint.js';
import { plain, plainLines, printable } from './plain-text.js';
import { tableOf, type Column } from './table.js';

export class Output {
  readonly paint: Paint = painterFor(process.stdout);
  /** Null in a pipe, where nothing is shortened. */
  readonly widthMax: number | null = process.stdout.isTTY ? process.stdout.columns || 80 : null;
  /** All times printed by one command are relative to the same moment. */
  readonly now = Date.now();

  /** Callers must sanitize untrusted text with `plain` or `continued`, which also prevent forged lines and colors. */
  line(text = ''): void {
    printLine(text);
  }

  /** Output that must not be mixed into the result. */
  note(text: string): void {
    printNote(text);
  }

  /** Untrusted text: exact in a pipe, sanitized in a terminal. */
  text(text: string): void {
    if (process.stdout.isTTY) this.line(plainLines(text.trimEnd()));
    else process.stdout.write(text);
  }

  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    this.line(tableOf(rows, columns, this));
  }

  /** `Status  Runnable`: pairs without a value are left out. */
  pairs(pairs: readonly (readonly [name: string, value: string, style?: Style | null])[]): void {
    const shown = pairs.filter(([, value]) => value !== '');
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value, style = null] of shown) {
      const text = plain(value);
      const painted = style === null ? text : this.paint(style, text);
      this.line(`${this.paint('bold', name.padEnd(width))}  ${painted}`);
    }
  }

  /** Reports a removal, for which the API returns no JSON. */
  removed(
    kind: string,
    which: Readonly<Record<string, string>>,
    { json }: { readonly json: boolean },
  ): void {
    if (json) this.json({ ...which, removed: true });
    else this.note(`Removed the ${kind} ${Object.values(which).map(plain).join(' ')}.`);
  }

  /** Prints an API value in full, as JSON. */
  json(value: object | Json): void {
    this.line(jsonText(value, 2));
  }

  /** On one line, for a sequence of values. */
  jsonLine(value: object | Json): void {
    this.line(jsonText(value));
  }
}

/** Prints to standard output. All output of all commands goes through here or `printNote`. */
export function printLine(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Prints to standard error. */
export function printNote(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** In JSON, characters that affect terminals occur only in strings, where they can be escaped. */
export function jsonText(value: object | Json, indentation?: number): string {
  return writeJson(value, indentation).split('\n').map(plain).join('\n');
}
