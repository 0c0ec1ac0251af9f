import { isApiError, isNetworkError, isTimeoutError } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { useOutage } from '../app/outage.js';
import { Button } from './button.js';

/** The message of an error, as shown to the user. */
export function problemText(error: unknown): string {
  if (isApiError(error)) return error.problem.detail;
  if (isNetworkError(error)) return 'The server cannot be reached.';
  if (isTimeoutError(error)) return 'The server did not respond in time.';
  return error instanceof Error ? error.message : String(error);
}

/** An error: the server's message, its code and each problem it reports. */
export function ProblemView({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
}): ReactNode {
  const outage = useOutage();
  // The banner of the page already reports it.
  if (outage.errors.has(error)) return null;
  const api = isApiError(error) ? error : null;
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{problemText(error)}</strong>
        {api !== null && (
          <code className="code">
            {api.status} {api.code}
          </code>
        )}
      </p>
      {api?.status === 403 && (
        <p>Sign out and sign in with a token that has this scope, or ask your administrator.</p>
      )}
      {api !== null && api.errors.length > 0 && (
        <ul>
          {api.errors.slice(0, 20).map((item, at) => (
            <li key={at}>
              {item.pointer !== undefined && item.pointer !== '' && <code>{item.pointer}</code>}{' '}
              {item.message}
            </li>
          ))}
          {api.errors.length > 20 && <li>and {api.errors.length - 20} more</li>}
        </ul>
      )}
      {onRetry !== undefined && (
        <Button isSmall onPress={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
