/**
 * Determines the context of a position in a definition's text. Incomplete documents can't be parsed, so it reads the lines above
 * the position. It supports YAML in block style, and JSON with one member per line. Pure.
 */

export type Surroundings = 'definition' | 'step' | 'inputs' | 'free';

export interface TextPlace {
  readonly surroundings: Surroundings;
  /** The type of the enclosing step, or null. */
  readonly stepType: string | null;
  /** The member whose value is being typed; null while a name is being typed. */
  readonly member: string | null;
  /** The part of the word before the position. */
  readonly word: string;
}

interface Line {
  /** The column of the first word; the dash of a list item counts as space. */
  readonly indent: number;
  readonly key: string | null;
  readonly value: string;
}

/** Maximum number of lines read above the position. */
const LINES_MAX = 2000;

export function placeIn(text: string, offset: number): TextPlace {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  const [, lead = '', key, , typed = ''] =
    /^((?:\s|- )*)(?:["']?([\w.-]+)["']?\s*:(\s*))?["']?([\w.-]*)$/.exec(before) ?? [];
  const above = text
    .slice(0, start)
    .split('\n')
    .slice(-LINES_MAX - 1, -1)
    .map(readLine);
  const indent = lead.length;
  const parents = parentsOf(above, indent);
  const siblings = siblingsOf(
    above,
    text.slice(start).split('\n').slice(1, 60).map(readLine),
    indent,
  );
  return {
    ...surroundingsOf(parents, siblings, above, indent),
    member: key ?? null,
    word: typed,
  };
}

/** The ids of all steps, for members that name a step. */
export function stepIdsIn(text: string): string[] {
  const ids = text.matchAll(/^[\s-]*["']?id["']?\s*:\s*["']?([^"',\n#]+)/gim);
  return [...new Set([...ids].map(([, id = '']) => id.trim()))].slice(1, 500);
}

function readLine(line: string): Line {
  const [, lead = '', key, value = ''] =
    /^((?:\s|- )*)(?:["']?([\w@./ -]+?)["']?\s*:)?\s*(.*)$/.exec(line) ?? [];
  return { indent: lead.length, key: key ?? null, value: value.replace(/^["']|["'],?$/g, '') };
}

/** The enclosing keys, innermost first. */
function parentsOf(above: readonly Line[], indent: number): string[] {
  const parents: string[] = [];
  let level = indent;
  for (const line of above.toReversed()) {
    if (line.key === null || line.indent >= level) continue;
    parents.push(line.key.toLowerCase());
    level = line.indent;
  }
  return parents;
}

function siblingsOf(above: readonly Line[], below: readonly Line[], indent: number): Line[] {
  const found: Line[] = [];
  for (const lines of [above.toReversed(), below]) {
    for (const line of lines) {
      if (line.key === null) continue;
      if (line.indent < indent) break;
      if (line.indent === indent) found.push(line);
      if (line.indent === indent && line.key.toLowerCase() === 'id') break;
    }
  }
  return found;
}

function surroundingsOf(
  [parent, ...rest]: readonly string[],
  siblings: readonly Line[],
  above: readonly Line[],
  indent: number,
): Pick<TextPlace, 'surroundings' | 'stepType'> {
  if (parent === undefined) return { surroundings: 'definition', stepType: null };
  if (['steps', 'do', 'compensatewith'].includes(parent)) {
    return { surroundings: 'step', stepType: typeAmong(siblings) };
  }
  if (parent === 'inputs' && rest.length > 0) {
    const own = above.toReversed().find(({ key, indent: at }) => key !== null && at < indent);
    const outer = siblingsOf(above, [], own?.indent ?? 0);
    return { surroundings: 'inputs', stepType: typeAmong(outer) };
  }
  return { surroundings: 'free', stepType: null };
}

function typeAmong(lines: readonly Line[]): string | null {
  return lines.find(({ key }) => key?.toLowerCase() === 'steptype')?.value.trim() ?? null;
}
