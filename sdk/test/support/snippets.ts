/**
 * The examples of the documentation as programs: blocks of `ts` in Markdown and in the comments of sources.
 *
 * Each is type-checked and run as it stands. One that uses `client` without making it gets one; the address in the text is
 * replaced by that of the test's server; a comment behind `console.log(…)` is what it must print.
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
  /** File and line. */
  readonly name: string;
  readonly code: string;
  /** Lines that it must print. */
  readonly prints: readonly string[];
}

/** All examples of files, given as patterns relative to the folder. */
export function readSnippets(folder: string, patterns: readonly string[]): readonly Snippet[] {
  const files = globSync([...patterns], {
    cwd: folder,
    exclude: (path) => path.endsWith('generated'),
  });
  return files.sort().flatMap((file) => snippetsOf(file, readFileSync(join(folder, file), 'utf8')));
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
  const makesClient = /\bconst client\b/.test(text) || !/\bclient\b/.test(text);
  return {
    name,
    code: `${makesClient ? '' : CLIENT}${text}\nexport {};\n`,
    prints: lines.flatMap((line) => /console\.log\(.*\).*; \/\/ (.+)$/.exec(line)?.[1] ?? []),
  };
}

/** Writes examples into files of a package, from where they see the package by its name. */
export class SnippetFolder {
  readonly #folder: string;

  constructor(packageFolder: string) {
    this.#folder = join(packageFolder, '.cache', 'snippets');
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
  }

  write({ code, name }: Snippet): string {
    const file = join(this.#folder, `${name.replace(/[^a-z0-9]/gi, '-')}.mts`);
    writeFileSync(file, code);
    return file;
  }

  /** Runs an example against a server. One that runs for ever, as workers do, is ended when `isDone` says so. */
  async run(
    snippet: Snippet,
    serverUrl: string,
    isDone?: () => Promise<boolean>,
  ): Promise<{ readonly exitCode: number | null; readonly output: string }> {
    const code = snippet.code.replaceAll(DOCUMENTED_ADDRESS, serverUrl);
    const file = this.write({ ...snippet, code });
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const closed = once(child, 'close');
    if (isDone !== undefined) {
      while (child.exitCode === null && !(await isDone()));
      child.kill('SIGTERM');
    }
    await closed;
    return { exitCode: child.exitCode, output };
  }
}
