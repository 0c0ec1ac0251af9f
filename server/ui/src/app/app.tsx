import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { isApiError } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Router } from 'wouter';
import { ConfirmProvider } from '../components/confirm-dialog.js';
import { ToastProvider } from '../components/toasts.js';
import { LiveProvider } from './live.js';
import { SessionProvider, useSession } from './session.js';
import { Shell } from './shell.js';

/** The whole page: who looks at it, what it has fetched, what it is told, what it shows. */
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

/** What was fetched with one token is not shown with another. */
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
            // The SDK makes calls again already, where that can help.
            retry: false,
            staleTime: 1000,
            refetchOnWindowFocus: (query) => !isApiError(query.state.error),
          },
        },
      }),
  );
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}
