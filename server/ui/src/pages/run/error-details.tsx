import type { StepError } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { JsonView } from '../../components/json-view.js';
import { TimeAgo } from '../../components/time-ago.js';

/** The error of a step: type, message, attempt, the worker's data and, if Python failed, its traceback. */
export function ErrorDetails({ error }: { readonly error: StepError }): ReactNode {
  const { type, message, traceback, data, attempt, since, time } = error;
  return (
    <div className="step-error">
      <p>
        <code className="error-type">{type}</code> <bdi>{message}</bdi>
      </p>
      <p className="quiet">
        Attempt {attempt}, <TimeAgo time={time} />
        {since !== time && (
          <>
            ; first failed like this <TimeAgo time={since} />
          </>
        )}
      </p>
      {traceback !== null && (
        <details>
          <summary>Python traceback</summary>
          <pre tabIndex={0}>{traceback}</pre>
        </details>
      )}
      {data !== null && (
        <details>
          <summary>Data reported by the worker</summary>
          <JsonView value={data} label="Data reported by the worker" />
        </details>
      )}
    </div>
  );
}
