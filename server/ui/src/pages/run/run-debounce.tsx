/** The starts that a run has collected, and until when it waits for more. */
import type { Workflow } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { exactTime } from '../../components/zone-choice.js';

export function RunDebounce({
  debounce: { key, latest, starts, until },
}: {
  readonly debounce: NonNullable<Workflow['debounce']>;
}): ReactNode {
  const count = starts === 1 ? '1 start' : `${starts} starts`;
  return (
    <>
      {count}
      {key !== null && (
        <>
          {' '}
          with the key <bdi>{key}</bdi>
        </>
      )}
      {until !== null &&
        `, collecting until ${exactTime(until)}, at the latest until ${exactTime(latest)}`}
    </>
  );
}
