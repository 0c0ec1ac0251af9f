/** The walk-throughs of docs/repair.md, for the tests that run them as printed. */
import { readFileSync } from 'node:fs';

export interface DocumentBlock {
  readonly language: string;
  readonly text: string;
}

/** The code blocks of each walk-through in their order, by its title. */
export function readWalkthroughs(): ReadonlyMap<string, readonly DocumentBlock[]> {
  const document = readFileSync(new URL('../../../../docs/repair.md', import.meta.url), 'utf8');
  const chapter = document.slice(document.indexOf('## Walk-throughs'));
  const sections = chapter.split(/^### /m).slice(1);
  return new Map(
    sections.map((section) => [section.slice(0, section.indexOf('\n')), blocksOf(section)]),
  );
}

function blocksOf(section: string): readonly DocumentBlock[] {
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}
