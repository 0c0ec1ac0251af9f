/** The fenced blocks of a Markdown text, with the words after their opening fence. */

export interface FencedBlock {
  /** The words after the fence: `sh run` becomes `['sh', 'run']`. */
  readonly words: readonly string[];
  readonly text: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
}

export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { words: string[]; lines: string[]; line: number } | null = null;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('```')) {
      open?.lines.push(line);
    } else if (open === null) {
      open = { words: line.slice(3).trim().split(/\s+/), lines: [], line: index + 1 };
    } else {
      blocks.push({ words: open.words, text: open.lines.join('\n'), line: open.line });
      open = null;
    }
  }
  return blocks;
}

export function hasWords(block: FencedBlock | undefined, ...words: readonly string[]): boolean {
  return block !== undefined && block.words.join(' ') === words.join(' ');
}
