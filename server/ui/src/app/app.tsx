import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { isApiError } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Router } from 'wouter';
import { ConfirmProvider } from '../components/confirm-dialog.js';
import { ToastProvider } from '../components/toasts.js';
import { LiveProvider } from './live.js';
import { SessionProvider, useSession } from './session.js';
import { Shell } from './shell.js';

/** The whole page: session, query cache, change stream, router and dialogs around the shell. */
export function App(): ReactNode {
  return (
    <SessionProvider>
      <Queries>
        <LiveProvider>
          <Router base="/ui">
            <ToastProvider>
              <ConfirmProvider>
                <Shell />
              </ConfirmProvider>
            </ToastProvider>
          </Router>
        </LiveProvider>
      </Queries>
    </SessionProvider>
  );
}

/** Each token has its own query cache, so that data fetched with one token is never shown with another. */
function Queries({ children }: { readonly children: ReactNode }): ReactNode {
  const { token } = useSession();
  return <QueriesOfOne key={token ?? ''}>{children}</QueriesOfOne>;
}

function QueriesOfOne({ children }: { readonly children: ReactNode }): ReactNode {
  const { noticeFailure } = useSession();
  const [client] = useState(
    () =>
      new QueryClient({
        queryCache: new QueryCache({ onError: noticeFailure }),
        defaultOptions: {
          queries: {
            // The SDK already retries calls where that can help.
            retry: false,
            staleTime: 1000,
            refetchOnWindowFocus: (query) => !isApiError(query.state.error),
          },
        },
      }),
  );
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}
