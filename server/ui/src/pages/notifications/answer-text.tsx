import type { Delivery } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { durationText, TimeAgo } from '../../components/time-ago.js';

type Answer = NonNullable<Delivery['lastAnswer']>;

/** The result of an attempt: the target's status, or why there was none. */
export function AnswerText({ answer }: { readonly answer: Answer }): ReactNode {
  const { body, durationMs, error, status, time } = answer;
  return (
    <>
      {status !== null && <code>{status}</code>}
      {status !== null && error !== null && ' '}
      {error !== null && <bdi>{error}</bdi>}{' '}
      <span className="quiet">
        after {durationText(durationMs)}, <TimeAgo time={time} />
      </span>
      {body !== null && body !== '' && (
        <details className="answer-body">
          <summary>Answer</summary>
          <pre>{body}</pre>
        </details>
      )}
    </>
  );
}
