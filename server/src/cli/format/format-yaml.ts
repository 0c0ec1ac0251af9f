/**
 * Formats a definition in YAML.
 *
 *  FY1 Comments, blank lines and the spelling of names are kept. The layout is Prettier's.
 *  FY2 The result has the same meaning, or there is none: the formatted text is parsed again and compared.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { FormatProblem } from './format-problem.js';
import { hasSteps, inOrder } from './member-order.js';
import { layOut, type Style } from './prettier.js';

const PARSE_OPTIONS = { intAsBigInt: true, logLevel: 'silent', prettyErrors: false } as const;
const DEPTH_MAX = 100;

/** @param style the project's style; null if unknown. @throws FormatProblem with the place */
export async function formatYaml(text: string, style: Style | null): Promise<string> {
  const document = read(text);
  if (!isMap(document.contents)) return text;
  const before = valueOf(document);
  const formatted = await layOut(ordered(document, document.contents, text), 'yaml', style);
  if (isDeepStrictEqual(valueOf(read(formatted)), before)) return formatted;
  throw new FormatProblem('it cannot be formatted without changing its meaning');
}

/** The text with its members in order; unchanged if they already are. */
function ordered(document: Document.Parsed, contents: YAMLMap, text: string): string {
  // An alias must stay after its anchor.
  if (hasAliases(document)) return text;
  const comment = takeComment(contents);
  const hasMoved = orderMap(contents, 'definition', 0);
  addComment(contents, comment);
  return hasMoved ? document.toString({ lineWidth: 0, indentSeq: true }) : text;
}

function read(text: string): Document.Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...PARSE_OPTIONS, lineCounter: lines });
  const [problem] = document.errors;
  if (problem === undefined) return document;
  const { col, line } = lines.linePos(problem.pos[0]);
  throw new FormatProblem(`Invalid YAML: ${problem.message}`, { line, column: col });
}

/** @throws FormatProblem for aliases that multiply */
function valueOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new FormatProblem('its aliases expand to too many values');
  }
}

function hasAliases(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias() {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** The comment at the top of a file describes the file, not its first member. */
function takeComment({ items: [first] }: YAMLMap): string | null {
  if (!isScalar(first?.key)) return null;
  const { commentBefore = null } = first.key;
  first.key.commentBefore = null;
  return commentBefore;
}

function addComment({ items: [first] }: YAMLMap, comment: string | null): void {
  if (comment === null || !isScalar(first?.key)) return;
  const { commentBefore } = first.key;
  first.key.commentBefore = commentBefore ? `${comment}\n${commentBefore}` : comment;
}

/** @returns whether a member has moved */
function orderMap(map: YAMLMap, place: 'definition' | 'step', depth: number): boolean {
  if (depth > DEPTH_MAX) throw new FormatProblem('its steps are nested too deeply');
  const items = inOrder(map.items, place, nameOf);
  let hasMoved = items.some((item, index) => item !== map.items[index]);
  map.items = items;
  for (const pair of items) {
    if (hasSteps(nameOf(pair)) && orderSteps(pair.value, depth)) hasMoved = true;
  }
  return hasMoved;
}

function orderSteps(value: unknown, depth: number): boolean {
  if (!isSeq(value)) return false;
  let hasMoved = false;
  for (const item of value.items) {
    if (isSeq(item) && orderSteps(item, depth + 1)) hasMoved = true;
    else if (isMap(item) && orderMap(item, 'step', depth + 1)) hasMoved = true;
  }
  return hasMoved;
}

function nameOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}
