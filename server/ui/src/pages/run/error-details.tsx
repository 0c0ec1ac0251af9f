import type { StepError } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { JsonView } from '../../components/json-view.js';
import { TimeAgo } from '../../components/time-ago.js';

/** The failure of a step: message, kind, which try, and the traceback where Python failed. */
export function ErrorDetails({ error }: { readonly error: StepError }): ReactNode {
  const { type, message, traceback, data, attempt, time } = error;
  return (
    <div className="step-error">
      <p>
        <code className="error-type">{type}</code> <bdi>{message}</bdi>
      </p>
      <p className="quiet">
        Try {attempt}, <TimeAgo time={time} />
      </p>
      {traceback !== null && (
        <details>
          <summary>Python traceback</summary>
          <pre tabIndex={0}>{traceback}</pre>
        </details>
      )}
      {data !== null && (
        <details>
          <summary>What the worker reported</summary>
          <JsonView value={data} label="What the worker reported" />
        </details>
      )}
    </div>
  );
}
