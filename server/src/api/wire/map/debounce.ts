/** Converts durations and `debounce` between host and wire. */
import { toLimitKey } from '../../../engine/values/convert-input.js';
import { DURATION_FORMS, parseDurationMs } from '../../../engine/values/durations.js';
import { AppError } from '../../../base/errors.js';
import type { DebounceView, StartRequest } from '../../../runtime/model/instance-types.js';
import type { Debounce } from '../models/debounce.js';
import type { StartQuery } from '../models/start-query.js';
import { toWireTime, toWireTimeOrNull } from './time.js';

/** Parses a duration in a query parameter. @throws AppError `invalid_request` */
export function toMilliseconds(text: string, parameter: string): number {
  const isNumber = /^\d{1,15}(?:\.\d{1,9})?$/.test(text.trim());
  const ms = parseDurationMs(isNumber ? Number(text) : text);
  if (ms !== null) return ms;
  throw invalid(parameter, `${parameter} must be a duration: ${DURATION_FORMS}`);
}

/** @throws AppError `invalid_request` */
export function toDebounceRequest(
  query: Pick<
    StartQuery,
    'debounce' | 'debounceData' | 'debounceKey' | 'debounceMax' | 'delay' | 'startAt'
  >,
): Pick<StartRequest, 'debounce'> {
  const { debounce, debounceData, debounceKey, debounceMax, delay, startAt } = query;
  if (debounce === undefined) {
    const given = { debounceKey, debounceMax, debounceData };
    for (const [parameter, value] of Object.entries(given)) {
      if (value !== undefined) throw invalid(parameter, `${parameter} needs debounce, a duration`);
    }
    return {};
  }
  if (startAt !== undefined || delay !== undefined) {
    const other = startAt === undefined ? 'delay' : 'startAt';
    throw invalid(
      'debounce',
      `debounce and ${other} both set the time of the start: give only one`,
    );
  }
  return {
    debounce: {
      periodMs: toPositive(debounce, 'debounce'),
      key: debounceKey === undefined || debounceKey === '' ? null : toKey(debounceKey),
      ...(debounceMax !== undefined && { maxMs: toPositive(debounceMax, 'debounceMax') }),
      ...(debounceData !== undefined && { data: debounceData }),
    },
  };
}

function toPositive(text: string, parameter: string): number {
  const ms = toMilliseconds(text, parameter);
  if (!text.trim().startsWith('-')) return ms;
  throw invalid(parameter, `${parameter} must not be negative`);
}

function toKey(text: string): string {
  const key = toLimitKey(text);
  if (key.ok) return key.value;
  throw invalid('debounceKey', `Invalid debounceKey: ${key.message}`);
}

export function toDebounce(view: DebounceView | null): Debounce | null {
  if (view === null) return null;
  const { data, key, latest, starts, until } = view;
  return { key, data, until: toWireTimeOrNull(until), latest: toWireTime(latest), starts };
}

function invalid(parameter: string, message: string): AppError {
  return new AppError('invalid_request', message, { parameter });
}
