/**
 * The examples of the documentation as programs: `ts` blocks in Markdown and in doc comments.
 *
 * Examples in Markdown are type-checked and run as printed, in their order. A definition printed before them (a `yaml`
 * block)
 * is saved next to them as a file named by its id, as the text tells readers to do. Examples in comments get a `client`
 * if
 * they use one without creating it. The address in the text is replaced by that of the test's server. A comment after
 * `console.log(…)` is the expected output.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const DOCUMENTED_ADDRESS = 'http://127.0.0.1:5001';
const CLIENT = `import { createClient as createTheClient } from '@stepwright/sdk';
const client = createTheClient({ baseUrl: '${DOCUMENTED_ADDRESS}' });
`;

export interface Snippet {
  /** The file and line of the example. */
  readonly name: string;
  readonly code: string;
  /** The expected output. */
  readonly prints: readonly string[];
  /** Whether it is a worker, which runs until its process is stopped. */
  readonly runsForEver: boolean;
}

/** All examples in the files that match the patterns, which are relative to the folder. */
export function readSnippets(folder: string, patterns: readonly string[]): readonly Snippet[] {
  const files = globSync([...patterns], {
    cwd: folder,
    exclude: (path) => path.endsWith('generated'),
  });
  return files.sort().flatMap((file) => snippetsOf(file, readFileSync(join(folder, file), 'utf8')));
}

/** The definitions printed on a Markdown page, by id. */
export function readDefinitions(path: string): ReadonlyMap<string, string> {
  const blocks = readFileSync(path, 'utf8').matchAll(/^```yaml\n(id: (\S+)\n[^]*?)^```$/gm);
  return new Map([...blocks].map(([, text = '', id = '']) => [id, text]));
}

function snippetsOf(file: string, text: string): readonly Snippet[] {
  const snippets: Snippet[] = [];
  let begin: number | null = null;
  let lines: string[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = file.endsWith('.md') ? raw : raw.replace(/^\s*\* ?/, '');
    if (begin === null) {
      if (line !== '```ts') continue;
      begin = index + 1;
      lines = [];
    } else if (line === '```') {
      snippets.push(snippet(`${basename(file)}:${begin}`, lines));
      begin = null;
    } else {
      lines.push(line);
    }
  }
  return snippets;
}

function snippet(name: string, lines: readonly string[]): Snippet {
  const text = lines.join('\n');
  const needsClient =
    !name.includes('.md:') && /\bclient\b/.test(text) && !/\bconst client\b/.test(text);
  return {
    name,
    code: `${needsClient ? CLIENT : ''}${text}\nexport {};\n`,
    runsForEver: text.includes('await worker.run();'),
    prints: lines.flatMap((line) => /console\.log\(.*\).*; \/\/ (.+)$/.exec(line)?.[1] ?? []),
  };
}

/** Writes examples to files inside a package, where they can import the package by its name. */
export class SnippetFolder {
  readonly #folder: string;

  constructor(packageFolder: string, definitions: ReadonlyMap<string, string> = new Map()) {
    this.#folder = join(packageFolder, '.cache', 'snippets');
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
    for (const [id, text] of definitions) writeFileSync(join(this.#folder, `${id}.yaml`), text);
  }

  write({ code, name }: Snippet): string {
    const file = join(this.#folder, `${name.replace(/[^a-z0-9]/gi, '-')}.mts`);
    writeFileSync(file, code);
    return file;
  }

  /**
   * Runs an example with a server. An example that never ends, such as a worker, is stopped when `isDone` returns true.
   */
  async run(
    snippet: Snippet,
    serverUrl: string,
    isDone?: () => Promise<boolean>,
  ): Promise<{ readonly exitCode: number | null; readonly output: string }> {
    const code = snippet.code.replaceAll(DOCUMENTED_ADDRESS, serverUrl);
    const file = this.write({ ...snippet, code });
    const child = spawn(process.execPath, [file], {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const closed = once(child, 'close');
    if (isDone !== undefined) {
      while (child.exitCode === null && !(await isDone()));
      // A program without a handler is killed by the signal, which is fine.
      child.kill('SIGTERM');
    }
    await closed;
    return { exitCode: child.exitCode, output };
  }
}
