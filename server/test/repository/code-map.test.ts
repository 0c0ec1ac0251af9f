/**
 * The code map of ARCHITECTURE.md names every folder of the server's sources, and only folders and files that exist.
 */
import { describe, expect, it } from 'vitest';
import { textOf, TRACKED } from './tracked-files.js';

const SOURCE = 'server/src/';
const files = TRACKED.filter((file) => file.startsWith(SOURCE));
const folders = new Set(
  files.flatMap((file) => {
    const names = file.split('/').slice(0, -1);
    return names.slice(2).map((_, index) => `${names.slice(0, index + 3).join('/')}/`);
  }),
);

interface Entry {
  /** Its path in the tree. */
  readonly folder: string;
  /** The description beside it. */
  readonly text: string;
}

/** The lines below `server/src/`: each level is indented by two spaces. */
function readMap(): readonly Entry[] {
  const [, map = ''] =
    /## Code map\n[^`]*```\nserver\/src\/\n([^]*?)\n(?=\S)/.exec(textOf('ARCHITECTURE.md')) ?? [];
  const above: string[] = [];
  return map.split('\n').flatMap((line) => {
    const [, indent = '', name = '', text = ''] = /^( +)(\S+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') return [];
    const level = indent.length / 2;
    above.length = level - 1;
    const parent = SOURCE + above.join('');
    if (!name.endsWith('/')) return [{ folder: parent, text: `${name} ${text}` }];
    above[level - 1] = name;
    return [{ folder: parent + name, text }];
  });
}

const map = readMap();
const named = new Set(
  map.flatMap(({ folder, text }) => [
    folder,
    ...[...text.matchAll(/(?<![\w/.-])((?:[\w-]+\/)+)/g)].map(([, name = '']) => folder + name),
  ]),
);
named.delete(SOURCE);

describe('the code map', () => {
  it('names every folder', () => {
    expect(folders.size).toBeGreaterThan(30);
    // A folder that contains only folders is named with them.
    expect([...folders].filter((folder) => !named.has(folder))).toEqual([]);
  });

  it('names only folders that exist', () => {
    expect([...named].filter((folder) => !folders.has(folder))).toEqual([]);
  });

  it('names files at their current path', () => {
    const missing = map.flatMap(({ folder, text }) =>
      [...text.matchAll(/[\w-]+\.ts\b/g)]
        .map(([name]) => folder + name)
        .filter((file) => !files.includes(file)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the table of where to start reading', () => {
  const [, table = ''] =
    /## Where to start reading\n([^]*?)\n## /.exec(textOf('ARCHITECTURE.md')) ?? [];

  it('names files and folders that exist', () => {
    const paths = [...table.matchAll(/`([\w-]+(?:\/[\w<>.-]+)*\/?)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => /\.ts$|\/$/.test(name));
    expect(paths.length).toBeGreaterThan(25);
    const missing = paths.filter((name) => {
      // `<noun>` stands for any name.
      const pattern = name.replaceAll('.', '\\.').replaceAll(/<\w+>/g, '[\\w-]+');
      const there = new RegExp(`^(${SOURCE})?${pattern}`);
      return !TRACKED.some((file) => there.test(file));
    });
    expect(missing).toEqual([]);
  });
});
