/**
 * Reads the parts of a definition document that can be drawn.
 *
 * The document may be a draft (for the preview in the editor) or a response of the server, in any casing. Invalid parts are
 * omitted and not reported, because the server reports them. Pure and bounded.
 */
import { stringifyJson } from '@stepwright/sdk';

/** A step, in the form that the graph needs. */
export interface GraphStep {
  readonly id: string;
  readonly type: string;
  readonly name: string | null;
  readonly nextStepId: string | null;
  readonly choices: readonly { readonly stepId: string; readonly condition: string }[];
  /** The sequences of its Do. */
  readonly sequences: readonly (readonly GraphStep[])[];
  readonly undo: readonly GraphStep[];
  readonly isSaga: boolean;
  /** Whether the next steps run after a cancel condition has ended it. */
  readonly proceedsOnCancel: boolean;
  /** The most significant input in one line, or null. */
  readonly detail: string | null;
  /** Its position in the document: a JSON pointer (RFC 6901) in the document's spelling. */
  readonly pointer: string;
}

export interface GraphDefinition {
  readonly id: string;
  readonly steps: readonly GraphStep[];
  /** The number of all steps, including nested ones. */
  readonly stepCount: number;
  /** Whether steps were left out because there are too many, or because they are nested too deeply. */
  readonly isCut: boolean;
}

/** The server's limits. The preview of a draft omits everything beyond them. */
const STEPS_MAX = 1000;
const DEPTH_MAX = 32;

interface Budget {
  left: number;
  isCut: boolean;
}

export function readDefinition(document: unknown): GraphDefinition {
  const members = membersOf(document);
  const budget: Budget = { left: STEPS_MAX, isCut: false };
  const steps = readSteps(members.get('steps'), '', { budget, depth: 0 });
  return {
    id: textOf(members.get('id')?.value) ?? '',
    steps,
    stepCount: STEPS_MAX - budget.left,
    isCut: budget.isCut,
  };
}

interface Member {
  /** The name as spelled in the document. */
  readonly name: string;
  readonly value: unknown;
}

interface Place {
  readonly budget: Budget;
  readonly depth: number;
}

/** Members by lowercase name, because the server accepts any casing. */
function membersOf(value: unknown): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  if (!isObject(value)) return members;
  for (const [name, member] of Object.entries(value)) {
    const key = name.toLowerCase();
    if (member !== null && !members.has(key)) members.set(key, { name, value: member });
  }
  return members;
}

function readSteps(list: Member | undefined, parentPointer: string, place: Place): GraphStep[] {
  if (list === undefined || !Array.isArray(list.value)) return [];
  return readStepItems(list.value, `${parentPointer}/${escapePointer(list.name)}`, place);
}

function readStepItems(items: readonly unknown[], pointer: string, place: Place): GraphStep[] {
  if (place.depth > DEPTH_MAX) {
    place.budget.isCut = true;
    return [];
  }
  const steps: GraphStep[] = [];
  for (const [index, item] of items.entries()) {
    if (!isObject(item)) continue;
    if (place.budget.left === 0) {
      place.budget.isCut = true;
      break;
    }
    place.budget.left -= 1;
    steps.push(readStep(item, `${pointer}/${index}`, place));
  }
  return steps;
}

function readStep(item: object, pointer: string, place: Place): GraphStep {
  const members = membersOf(item);
  const inside: Place = { budget: place.budget, depth: place.depth + 1 };
  const type = textOf(members.get('steptype')?.value) ?? '';
  return {
    id: textOf(members.get('id')?.value) ?? '',
    type,
    name: textOf(members.get('name')?.value),
    nextStepId: textOf(members.get('nextstepid')?.value),
    choices: readChoices(members.get('selectnextstep')?.value),
    sequences: readSequences(members.get('do'), pointer, inside),
    undo: readSteps(members.get('compensatewith'), pointer, inside),
    isSaga: isTrue(members.get('saga')),
    proceedsOnCancel: isTrue(members.get('proceedoncancel')),
    detail: detailOf(type, membersOf(members.get('inputs')?.value)),
    pointer,
  };
}

function isTrue(member: Member | undefined): boolean {
  return /^true$/i.test(textOf(member?.value) ?? '');
}

function readChoices(value: unknown): { stepId: string; condition: string }[] {
  if (!isObject(value)) return [];
  return Object.entries(value).map(([stepId, condition]) => ({
    stepId,
    condition: inOneLine(condition),
  }));
}

/** A plain list of steps is one sequence. */
function readSequences(
  list: Member | undefined,
  parentPointer: string,
  place: Place,
): GraphStep[][] {
  if (list === undefined || !Array.isArray(list.value)) return [];
  // Array.isArray narrows to any[].
  const items = list.value as readonly unknown[];
  const pointer = `${parentPointer}/${escapePointer(list.name)}`;
  if (!items.some((item) => Array.isArray(item))) {
    const steps = readStepItems(items, pointer, place);
    return steps.length > 0 ? [steps] : [];
  }
  return items
    .map((item, index) =>
      Array.isArray(item) ? readStepItems(item, `${pointer}/${index}`, place) : [],
    )
    .filter((steps) => steps.length > 0);
}

/** The inputs that summarize a step, each with a word before the value. */
const TELLING_INPUTS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  emitlog: [['', 'message']],
  if: [['if', 'condition']],
  while: [['while', 'condition']],
  foreach: [['each of', 'collection']],
  delay: [['for', 'period']],
  schedule: [['after', 'interval']],
  recur: [['every', 'interval']],
  waitfor: [
    ['', 'eventname'],
    ['/', 'eventkey'],
  ],
  activity: [['', 'activityname']],
  httprequest: [
    ['', 'method'],
    ['', 'baseurl'],
    ['', 'resource'],
  ],
  subworkflow: [['', 'definitionid']],
};

function detailOf(type: string, inputs: ReadonlyMap<string, Member>): string | null {
  const parts = (TELLING_INPUTS[type.toLowerCase()] ?? []).flatMap(([word, input]) => {
    const member = inputs.get(input);
    return member === undefined ? [] : [`${word} ${unquote(inOneLine(member.value))}`.trim()];
  });
  return parts.length > 0 ? parts.join(' ') : null;
}

/** Removes the quotes of a Python string literal. */
function unquote(expression: string): string {
  return /^(["'])((?:(?!\1)[^\\])*)\1$/.exec(expression)?.[2] ?? expression;
}

const LINE_LENGTH_MAX = 200;

function inOneLine(value: unknown): string {
  const text = textOf(value) ?? stringifyJson(value);
  const line = text.slice(0, LINE_LENGTH_MAX).replace(/\s+/g, ' ').trim();
  return text.length > LINE_LENGTH_MAX ? `${line}…` : line;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return ['number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
