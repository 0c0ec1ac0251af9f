/** The audit log filter. It is part of the URL, so it can be shared and survives a reload. */
import type { AuditFilter } from '@stepwright/sdk';
import { periodStart } from '../../components/period.js';
import { timeOf } from '../../data-form/local-time.js';

/** The strings in the URL; empty for members that the filter doesn't set. */
export const NO_CHANGE_FILTER = {
  actor: '',
  action: '',
  address: '',
  targetKind: '',
  targetId: '',
  /** A period up to now, such as `1h`. */
  within: '',
  /** Times in the chosen zone, in the format of an input of type `datetime-local`. */
  from: '',
  to: '',
};

export type ChangeFilter = Readonly<typeof NO_CHANGE_FILTER>;

export function readChangeFilter(query: URLSearchParams): ChangeFilter {
  const text = (name: keyof ChangeFilter): string => query.get(name) ?? '';
  return {
    actor: text('actor'),
    action: text('action'),
    address: text('address'),
    targetKind: text('targetKind'),
    targetId: text('targetId'),
    within: text('within'),
    from: text('from'),
    to: text('to'),
  };
}

/** The members that are set, for the URL. */
export function setMembers(filter: ChangeFilter): Record<string, string> {
  return Object.fromEntries(Object.entries(filter).filter(([, text]) => text !== ''));
}

/** @param nowMs the end of the period */
export function toAuditQuery(filter: ChangeFilter, nowMs: number): AuditFilter {
  const { within, from, to, ...texts } = filter;
  const times = { from: periodStart(within, nowMs) ?? timeOf(from), to: timeOf(to) };
  return Object.fromEntries(Object.entries({ ...texts, ...times }).filter(([, text]) => text));
}
