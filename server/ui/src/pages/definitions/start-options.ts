/** The options of a start, as the user chooses them. Pure. */
import type { DefinitionDocument, StartOptions, Workflow } from '@stepwright/sdk';
import { tagsOf, tagsProblem, type TagRow } from '../../components/tags.js';
import { timeOf } from '../../data-form/local-time.js';

export const CONFLICT_WORDS = {
  allow: 'start another run',
  fail: 'reject the start',
  existing: 'use the existing run',
  terminate: 'terminate it if it is open',
  queue: 'wait until it has ended',
} as const;

export const SCOPE_WORDS = {
  open: 'open runs',
  kept: 'all kept runs, including ended ones',
} as const;

export const DEBOUNCE_WORDS = {
  last: 'the last start',
  first: 'the first start',
  list: 'all starts, as a list',
} as const;

export type DebounceData = keyof typeof DEBOUNCE_WORDS;
export type OnConflict = keyof typeof CONFLICT_WORDS;
export type ConflictScope = keyof typeof SCOPE_WORDS;

export interface StartChoices {
  readonly reference: string;
  /** Null for the definition's default. */
  readonly onConflict: OnConflict | null;
  readonly conflictScope: ConflictScope | null;
  readonly tags: readonly TagRow[];
  /** Null for the definition's default. */
  readonly priority: number | null;
  /** Empty for the definition's default. */
  readonly fairnessKey: string;
  readonly fairnessWeight: string;
  /** `debounce`: when no other start has come for a while. */
  readonly when: 'now' | 'at' | 'after' | 'debounce';
  /** A time in the chosen zone, in the format of an input of type `datetime-local`. */
  readonly at: string;
  readonly delay: string;
  readonly period: string;
  readonly debounceKey: string;
  readonly debounceData: DebounceData;
}

export const NO_CHOICES: StartChoices = {
  reference: '',
  onConflict: null,
  conflictScope: null,
  tags: [],
  priority: null,
  fairnessKey: '',
  fairnessWeight: '',
  when: 'now',
  at: '',
  delay: '',
  period: '',
  debounceKey: '',
  debounceData: 'last',
};

/** The choices that start a run like this one. */
export function choicesOf({
  fairnessKey,
  fairnessWeight,
  priority,
  reference,
  tags,
}: Pick<
  Workflow,
  'fairnessKey' | 'fairnessWeight' | 'priority' | 'reference' | 'tags'
>): StartChoices {
  const rows = Object.entries(tags).map(([name, value]) => ({ name, value }));
  const fairness = {
    fairnessKey: fairnessKey ?? '',
    fairnessWeight: fairnessWeight === null ? '' : String(fairnessWeight),
  };
  return { ...NO_CHOICES, reference: reference ?? '', tags: rows, priority, ...fairness };
}

/** The definition's defaults for starts. */
export interface StartDefaults {
  /** An expression; null: runs have no reference. */
  readonly reference: string | null;
  readonly onConflict: OnConflict;
  readonly conflictScope: ConflictScope;
  readonly priority: number;
  /** An expression; null: runs have no fairness key. */
  readonly fairnessKey: string | null;
}

export function defaultsOf(
  definition: Pick<
    DefinitionDocument,
    'reference' | 'onConflict' | 'conflictScope' | 'priority' | 'fairness'
  >,
): StartDefaults {
  const { conflictScope, fairness, onConflict, priority, reference } = definition;
  return {
    reference: reference == null ? null : String(reference),
    onConflict: keyIn(CONFLICT_WORDS, onConflict) ?? 'allow',
    conflictScope: keyIn(SCOPE_WORDS, conflictScope) ?? 'open',
    priority: priority ?? 3,
    fairnessKey: fairness == null ? null : String(fairness.key),
  };
}

/** The key that a text names, in any casing. */
export function keyIn<Key extends string>(
  words: Readonly<Record<Key, string>>,
  text: string | null | undefined,
): Key | null {
  // Object.keys loses the type of the keys.
  const keys = Object.keys(words) as Key[];
  return keys.find((key) => key === text?.toLowerCase()) ?? null;
}

/** The problems that prevent the start, by option. */
export type OptionProblems = Partial<
  Record<'onConflict' | 'tags' | 'fairnessWeight' | 'at' | 'delay' | 'period', string>
>;

export function problemsOf(choices: StartChoices, defaults: StartDefaults): OptionProblems {
  const { reference, onConflict, tags, when, at, delay, period } = choices;
  const tagProblem = tagsProblem(tags) ?? colonProblem(tags);
  const weightProblem = fairnessProblem(choices, defaults);
  const lacksReference =
    onConflict !== null &&
    onConflict !== 'allow' &&
    reference === '' &&
    defaults.reference === null;
  return {
    ...(lacksReference && { onConflict: 'This needs a reference.' }),
    ...(tagProblem !== null && { tags: tagProblem }),
    ...(weightProblem !== null && { fairnessWeight: weightProblem }),
    ...(when === 'at' && timeOf(at) === '' && { at: 'Enter a date and a time.' }),
    ...(when === 'after' &&
      delay.trim() === '' && { delay: 'Enter a duration, such as 90 or 1:30:00.' }),
    ...(when === 'debounce' &&
      period.trim() === '' && { period: 'Enter a duration, such as 30 or 1:30:00.' }),
  };
}

function fairnessProblem(
  { fairnessKey, fairnessWeight }: StartChoices,
  defaults: StartDefaults,
): string | null {
  if (fairnessWeight === '') return null;
  const weight = Number(fairnessWeight);
  if (!(weight >= 0.01 && weight <= 100)) return 'Enter a number from 0.01 to 100.';
  const hasKey = fairnessKey !== '' || defaults.fairnessKey !== null;
  return hasKey ? null : 'This needs a fairness key.';
}

/** A start separates names and values by colons. */
function colonProblem(tags: readonly TagRow[]): string | null {
  const withColon = tags.find(({ name }) => name.includes(':'));
  return withColon === undefined ? null : `The name ${withColon.name} must not contain a colon.`;
}

export function startOptions(choices: StartChoices, version: number | undefined): StartOptions {
  const { reference, onConflict, conflictScope, priority, when, at, delay } = choices;
  const { fairnessKey, fairnessWeight } = choices;
  const tags = tagsOf(choices.tags);
  return {
    ...(version !== undefined && { version }),
    ...(reference !== '' && { reference }),
    ...(onConflict !== null && { onConflict }),
    ...(conflictScope !== null && { conflictScope }),
    ...(priority !== null && { priority }),
    ...(fairnessKey !== '' && { fairnessKey }),
    ...(fairnessWeight !== '' && { fairnessWeight: Number(fairnessWeight) }),
    ...(Object.keys(tags).length > 0 && { tags }),
    ...(when === 'at' && { startAt: timeOf(at) }),
    ...(when === 'after' && { delay: delay.trim() }),
    ...(when === 'debounce' && debounceOptions(choices)),
  };
}

function debounceOptions({ debounceData, debounceKey, period }: StartChoices): StartOptions {
  return {
    debounce: period.trim(),
    ...(debounceKey !== '' && { debounceKey }),
    ...(debounceData !== 'last' && { debounceData }),
  };
}
