/** What steps hold of a limit, and what waits for it: cells of tables. */
import type { Limit, LimitKey } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import type { Column } from '../../components/data-table.js';
import { TextCell } from '../../components/text-cell.js';
import { TimeAgo } from '../../components/time-ago.js';

/** `3 of 5`, with a bar; without a maximum: `3`. */
export function HeldBar({
  held,
  concurrency,
}: {
  readonly held: number;
  readonly concurrency: number | null;
}): ReactNode {
  const text = held.toLocaleString('en');
  if (concurrency === null) return text;
  const isFull = held >= concurrency;
  return (
    <span className="limit-use">
      {/* The text beside it says the same. */}
      <span className={isFull ? 'limit-bar full' : 'limit-bar'} aria-hidden="true">
        <span style={{ width: `${Math.min(100, (held / concurrency) * 100)}%` }} />
      </span>
      {text} of {concurrency.toLocaleString('en')}
    </span>
  );
}

/** Each key has the whole limit for itself, so the bar is that of the fullest one. */
export function LimitUse({ limit }: { readonly limit: Limit }): ReactNode {
  const { concurrency, held, keys } = limit;
  const [first, ...others] = keys;
  if (first === undefined || (others.length === 0 && first.key === null))
    return <HeldBar {...{ concurrency, held }} />;
  const fullest = others.reduce((most, each) => (each.held > most.held ? each : most), first);
  return (
    <>
      <HeldBar held={fullest.held} concurrency={concurrency} />{' '}
      <span className="quiet">
        with <KeyName name={fullest.key} />
        {others.length > 0 && `; ${held.toLocaleString('en')} with all keys`}
      </span>
    </>
  );
}

export function KeyName({ name }: { readonly name: string | null }): ReactNode {
  if (name === null) return 'no key';
  return (
    <>
      the key <bdi>{name}</bdi>
    </>
  );
}

/** The beginning of the longest wait; null if no step waits. */
export function oldestWaitOf({ keys }: Pick<Limit, 'keys'>): string | null {
  const waits = keys.flatMap(({ oldestWaitSince }) => oldestWaitSince ?? []);
  return waits.sort()[0] ?? null;
}

export const keyColumns = (concurrency: number | null): readonly Column<LimitKey>[] => [
  {
    key: 'key',
    header: 'Key',
    kind: 'wide',
    cell: ({ key }) =>
      key === null ? <span className="none">without a key</span> : <TextCell text={key} />,
  },
  { key: 'held', header: 'Held', cell: ({ held }) => <HeldBar {...{ concurrency, held }} /> },
  {
    key: 'waiting',
    header: 'Waiting',
    kind: 'number',
    cell: ({ waiting }) => waiting.toLocaleString('en'),
  },
  {
    key: 'oldest',
    header: 'Oldest wait',
    kind: 'time',
    cell: ({ oldestWaitSince }) => <TimeAgo time={oldestWaitSince} />,
  },
];
