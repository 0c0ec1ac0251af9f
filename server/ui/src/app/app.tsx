import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { isApiError } from '@stepwright/sdk';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Router } from 'wouter';
import { ConfirmProvider } from '../components/confirm-dialog.js';
import { ToastProvider } from '../components/toasts.js';
import { LiveProvider } from './live.js';
import { OutageProvider } from './outage.js';
import { SessionProvider, useSession } from './session.js';
import { Shell } from './shell.js';

/** The whole page: session, query cache, change stream, router and dialogs around the shell. */
export function App(): ReactNode {
  return (
    <SessionProvider>
      <Queries>
        <LiveProvider>
          <Router base="/ui">
            <OutageProvider>
              <ToastProvider>
                <ConfirmProvider>
                  <Shell />
                </ConfirmProvider>
              </ToastProvider>
            </OutageProvider>
          </Router>
        </LiveProvider>
      </Queries>
    </SessionProvider>
  );
}

/**
 * Each user has their own query cache and pages, so that data fetched by one user is never shown to another. If a user signs in
 * again because the token has expired, the page stays unchanged.
 */
function Queries({ children }: { readonly children: ReactNode }): ReactNode {
  const { identity } = useSession();
  return <QueriesOfOne key={identity}>{children}</QueriesOfOne>;
}

function QueriesOfOne({ children }: { readonly children: ReactNode }): ReactNode {
  const { noticeFailure, token } = useSession();
  const [client] = useState(
    () =>
      new QueryClient({
        queryCache: new QueryCache({ onError: noticeFailure }),
        defaultOptions: {
          queries: {
            // The SDK already retries calls where that can help.
            retry: false,
            // Fresh for components that appear together. After leaving and reopening a page, changes may have been missed.
            staleTime: (query) => (query.getObserversCount() > 1 ? 1000 : 0),
            refetchOnWindowFocus: (query) => !isApiError(query.state.error),
          },
        },
      }),
  );
  const usedToken = useRef(token);
  useEffect(() => {
    if (usedToken.current === token) return;
    usedToken.current = token;
    // Calls that the server rejected because of the expired token.
    void client.invalidateQueries();
  }, [client, token]);
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}
