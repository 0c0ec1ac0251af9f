/**
 * The last stage of `fmt`: Prettier, so that a project can use both without conflicting changes.
 *
 *  PF1 A text that Prettier leaves unchanged in the project's style stays unchanged.
 */
import type { Options } from 'prettier';
import { FormatProblem } from './format-problem.js';

export type Parser = 'yaml' | 'json';
/** The Prettier options that affect these files. */
export type Style = Pick<
  Options,
  'bracketSpacing' | 'printWidth' | 'proseWrap' | 'singleQuote' | 'tabWidth' | 'trailingComma'
>;

/** Copied by the build. The same path relative to `src/cli/format` and to `dist/cli/format`. */
const FOLDER = new URL('../../../dist/prettier/', import.meta.url);

/** Common combinations of width and quotes. The first style is Prettier's default. */
const USUAL_STYLES: readonly Style[] = [80, 100, 120].flatMap((printWidth) =>
  [false, true].map((singleQuote) => ({ printWidth, singleQuote })),
);

/** @param style the project's style; if null, any common style is accepted. @throws FormatProblem */
export async function layOut(text: string, parser: Parser, style: Style | null): Promise<string> {
  if (style !== null) return format(text, parser, style);
  for (const usual of USUAL_STYLES) {
    if ((await format(text, parser, usual)) === text) return text;
  }
  return format(text, parser, { singleQuote: prefersSingleQuotes(text) });
}

/** For texts that could have either kind of quotes. */
function prefersSingleQuotes(text: string): boolean {
  const count = (pattern: RegExp): number => [...text.matchAll(pattern)].length;
  return count(/(?<![\w"'])'[^'"\n]*'/g) > count(/(?<![\w"'])"[^'"\n]*"/g);
}

async function format(text: string, parser: Parser, style: Style): Promise<string> {
  const { plugins, prettier } = await load();
  try {
    return await prettier.format(text, { ...style, parser, plugins });
  } catch (error) {
    throw new FormatProblem(`Prettier cannot format it: ${firstLineOf(error)}`);
  }
}

function firstLineOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line;
}

interface Loaded {
  readonly prettier: { format(text: string, options: Options): Promise<string> };
  readonly plugins: NonNullable<Options['plugins']>;
}

let loaded: Promise<Loaded> | null = null;

/** Loaded once, and only if something is formatted. */
function load(): Promise<Loaded> {
  loaded ??= (async () => {
    const [prettier, ...plugins] = await Promise.all(
      ['standalone', 'plugins/yaml', 'plugins/babel', 'plugins/estree'].map(
        async (name) => (await import(new URL(`${name}.mjs`, FOLDER).href)) as unknown,
      ),
    );
    // The files are Prettier modules with these exports.
    return { prettier, plugins } as Loaded;
  })();
  return loaded;
}
