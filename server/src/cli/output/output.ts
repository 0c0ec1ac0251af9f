/** Where commands print: results to standard output, everything else to standard error. */
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';
import { painterFor, type Paint, type Style } from './paint.js';
import { plain, plainLines, printable } from './plain-text.js';
import { tableOf, type Column } from './table.js';

/** `Status  Runnable`. Pairs with an empty value are omitted. */
export type Pairs = readonly (readonly [name: string, value: string, style?: Style | null])[];

/** One page of a list. */
interface Listed<Row> {
  readonly items: readonly Row[];
  readonly nextCursor: string | null;
}

export class Output {
  readonly paint: Paint = painterFor(process.stdout);
  /** Null in a pipe, where nothing is shortened. */
  readonly widthMax: number | null = process.stdout.isTTY ? process.stdout.columns || 80 : null;
  readonly #json: boolean;
  #now: number | null = null;

  /** @param options `json`: whether results are printed as JSON */
  constructor({ json = false }: { readonly json?: boolean } = {}) {
    this.#json = json;
  }

  /** All times printed by one command are relative to the same moment, that of the first one. */
  get now(): number {
    return (this.#now ??= Date.now());
  }

  /** Prints the result of a command, as JSON or with `print`. Only this class decides which. */
  result<Printed>(value: object, print: () => Printed): Printed | undefined {
    if (!this.#json) return print();
    this.json(value);
    return undefined;
  }

  /** Prints one of several results: as JSON on one line, or with `print`. */
  entry(value: object, print: () => void): void {
    if (this.#json) this.line(jsonText(value));
    else print();
  }

  /** Prints information that JSON output omits, such as progress. */
  extra(print: () => void): void {
    if (!this.#json) print();
  }

  /** A result for a file, in the selected format. */
  fileText(value: object, text: string): string {
    return this.#json ? `${jsonText(value, 2)}\n` : text;
  }

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

  /** @param nouns the name of the items, such as `bulk jobs` */
  page<Row>(
    { items, nextCursor }: Listed<Row>,
    columns: readonly Column<Row>[],
    nouns: string,
  ): void {
    if (items.length === 0) this.note(`There are no ${nouns}.`);
    else {
      this.table(items, columns);
      if (nextCursor !== null) {
        this.note(`These are the first ${items.length} ${nouns}; --limit shows more.`);
      }
    }
  }

  pairs(pairs: Pairs): void {
    const shown = pairs.filter(([, value]) => value !== '');
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value, style = null] of shown) {
      const text = plain(value);
      const painted = style === null ? text : this.paint(style, text);
      this.line(`${this.paint('bold', name.padEnd(width))}  ${painted}`);
    }
  }

  /** Prints a value in full, as JSON. */
  json(value: object | Json): void {
    this.line(jsonText(value, 2));
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
