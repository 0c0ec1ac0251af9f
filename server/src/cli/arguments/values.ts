/** Parses option values. An invalid value ends the command with exit code 2. */
import { InvalidArgumentError } from 'commander';
import {
  FAIRNESS_WEIGHT_MAX,
  FAIRNESS_WEIGHT_MIN,
  PRIORITIES,
  type Priority,
} from '../../engine/model/start-options.js';
import { isoTime } from '../../base/iso-time.js';
import { readTime, TIME_EXAMPLE, timeProblem } from '../../engine/values/times.js';
import { readAdvance } from '../../test-kit/duration-text.js';

export const ITEMS_MAX = 10_000;

export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

export const readLimit = wholeNumber(1, ITEMS_MAX);
export const readVersion = wholeNumber(1, Number.MAX_SAFE_INTEGER);
export const readIndex = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export function readPriority(text: string): Priority {
  const priority = PRIORITIES.find((each) => String(each) === text);
  if (priority !== undefined) return priority;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${PRIORITIES.length}.`);
}

export function readFairnessWeight(text: string): number {
  const value = /^\d{1,3}(\.\d{1,15})?$/.test(text) ? Number(text) : NaN;
  if (value >= FAIRNESS_WEIGHT_MIN && value <= FAIRNESS_WEIGHT_MAX) return value;
  const range = `from ${FAIRNESS_WEIGHT_MIN} to ${FAIRNESS_WEIGHT_MAX}`;
  throw new InvalidArgumentError(`It must be a number ${range}.`);
}

export function readRate(text: string): number {
  const value = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new InvalidArgumentError('It must be a number above 0, such as 50 or 0.5.');
}

export function readPercent(text: string): number {
  const value = /^\d{1,3}(\.\d{1,6})?$/.test(text) ? Number(text) : NaN;
  if (value <= 100) return value;
  throw new InvalidArgumentError('It must be a number from 0 to 100.');
}

/** For options that can be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** `3d`, `2h30m`, `45s`, or seconds, as in definitions: milliseconds. */
export function readDuration(text: string): number {
  const ms = readAdvance(/^\d{1,9}(?:\.\d{1,3})?$/.test(text) ? Number(text) : text);
  if (ms !== null) return ms;
  throw new InvalidArgumentError('It must be a duration such as 45s, 2h30m, 3d or 5 (seconds).');
}

/** A duration before now, or a time in ISO 8601 format; the result is the latter. */
export function readPastTime(text: string): string {
  const ms = readAdvance(text);
  if (ms !== null) return isoTime(Date.now() - ms);
  const read = readTime(text);
  if (read.ok) return isoTime(read.ms);
  const reason = read.reason === null ? '' : ` ${text}: ${read.reason}.`;
  throw new InvalidArgumentError(
    `It must be how long ago, such as 2h30m, or a time such as 2026-05-04T10:20:30Z.${reason}`,
  );
}

/** Parses a time as the server does; the result is in UTC. */
export function readTimeOption(text: string): string {
  const read = readTime(text);
  if (read.ok) return isoTime(read.ms);
  const got = timeProblem(text, read.reason);
  throw new InvalidArgumentError(`It must be a time such as ${TIME_EXAMPLE}, not ${got}.`);
}
