/** The options of a start, as the user chooses them. Pure. */
import type { StartOptions, Workflow } from '@stepwright/sdk';
import { tagsOf, tagsProblem, type TagRow } from '../../components/tags.js';
import { timeOf } from '../../data-form/local-time.js';

export const CONFLICT_WORDS = {
  allow: 'start another run',
  fail: 'refuse the start',
  existing: 'use the open run',
  terminate: 'terminate the open run',
} as const;

export type OnConflict = keyof typeof CONFLICT_WORDS;

export interface StartChoices {
  readonly reference: string;
  readonly onConflict: OnConflict;
  readonly tags: readonly TagRow[];
  readonly when: 'now' | 'at' | 'after';
  /** A time in the chosen zone, as a control of type `datetime-local` writes it. */
  readonly at: string;
  readonly delay: string;
}

export const NO_CHOICES: StartChoices = {
  reference: '',
  onConflict: 'allow',
  tags: [],
  when: 'now',
  at: '',
  delay: '',
};

/** The choices that start a run like this one. */
export function choicesOf({ reference, tags }: Pick<Workflow, 'reference' | 'tags'>): StartChoices {
  const rows = Object.entries(tags).map(([name, value]) => ({ name, value }));
  return { ...NO_CHOICES, reference: reference ?? '', tags: rows };
}

/** What keeps the start from being sent, at the option that it concerns. */
export type OptionProblems = Partial<Record<'onConflict' | 'tags' | 'at' | 'delay', string>>;

export function problemsOf(choices: StartChoices): OptionProblems {
  const { reference, onConflict, tags, when, at, delay } = choices;
  const tagProblem = tagsProblem(tags) ?? colonProblem(tags);
  return {
    ...(onConflict !== 'allow' && reference === '' && { onConflict: 'This needs a reference.' }),
    ...(tagProblem !== null && { tags: tagProblem }),
    ...(when === 'at' && timeOf(at) === '' && { at: 'Enter a date and a time.' }),
    ...(when === 'after' &&
      delay.trim() === '' && { delay: 'Enter a duration, such as 90 or 1:30:00.' }),
  };
}

/** A start separates names and values by colons. */
function colonProblem(tags: readonly TagRow[]): string | null {
  const withColon = tags.find(({ name }) => name.includes(':'));
  return withColon === undefined ? null : `The name ${withColon.name} must not contain a colon.`;
}

export function startOptions(choices: StartChoices, version: number | undefined): StartOptions {
  const { reference, onConflict, when, at, delay } = choices;
  const tags = tagsOf(choices.tags);
  return {
    ...(version !== undefined && { version }),
    ...(reference !== '' && { reference }),
    ...(onConflict !== 'allow' && { onConflict }),
    ...(Object.keys(tags).length > 0 && { tags }),
    ...(when === 'at' && { startAt: timeOf(at) }),
    ...(when === 'after' && { delay: delay.trim() }),
  };
}
