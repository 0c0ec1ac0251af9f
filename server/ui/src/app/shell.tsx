import { isApiError } from '@stepwright/sdk';
import { Suspense, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../components/button.js';
import { chooseZone, useZone, ZONES } from '../components/zone-choice.js';
import { Loading } from '../components/loading.js';
import { Page } from '../components/page.js';
import { ProblemView } from '../components/problem-view.js';
import { ErrorBoundary } from './error-boundary.js';
import { useHasBeenLive, useIsSettled, useLiveState, useRefusal } from './live.js';
import { OutageBanner } from './outage.js';
import { NAVIGATION, Pages } from './pages.js';
import { useSession } from './session.js';
import { SignIn, SignInDialog } from './sign-in/sign-in.js';
import { applyTheme, readTheme, THEMES, type Theme } from './theme.js';

/** The navigation (at the side, or at the top of a narrow window) and the page at the current address. */
export function Shell(): ReactNode {
  const { signInReason } = useSession();
  const refusal = useRefusal();
  const isForbidden = isApiError(refusal) && refusal.status === 403;
  const hasBeenLive = useHasBeenLive();
  const isSettled = useIsSettled();
  const [location] = useLocation();
  // Rerenders every page when the user chooses another time zone.
  useZone();
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <header className="side">
        <Link href="/" className="brand">
          <img src="/ui/favicon.svg" alt="" width="22" height="22" />
          Stepwright
        </Link>
        <Navigation location={location} />
        <Footer />
      </header>
      <main id="content" tabIndex={-1}>
        <OutageBanner />
        <ErrorBoundary key={location}>
          {signInReason !== null && !hasBeenLive ? (
            <SignIn reason={signInReason} />
          ) : isForbidden ? (
            <Page title="Not allowed">
              <ProblemView error={refusal} />
            </Page>
          ) : !isSettled ? (
            <Loading />
          ) : (
            <Suspense fallback={<Loading />}>
              <Pages />
            </Suspense>
          )}
        </ErrorBoundary>
        {signInReason !== null && hasBeenLive && <SignInDialog reason={signInReason} />}
      </main>
    </div>
  );
}

function Navigation({ location }: { readonly location: string }): ReactNode {
  return (
    <nav aria-label="Main" className="navigation">
      {NAVIGATION.map(({ path, label }) => {
        const isHere = location === path || location.startsWith(`${path}/`);
        return (
          <Link
            key={path}
            href={path}
            className={isHere ? 'here' : ''}
            {...(isHere && { 'aria-current': 'page' as const })}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
}

function Footer(): ReactNode {
  return (
    <div className="side-footer">
      <Connection />
      <Who />
      <ThemeSwitch />
      <ZoneSwitch />
      <a className="quiet-link" href="/swagger">
        API
      </a>
    </div>
  );
}

const STATE_TEXTS = {
  connecting: 'Connecting …',
  live: 'Live',
  reconnecting: 'Reconnecting …',
  refused: 'Not live',
} as const;

function Connection(): ReactNode {
  const state = useLiveState();
  return (
    <span
      className={`connection ${state}`}
      role="status"
      title="Whether the page receives changes live"
    >
      {STATE_TEXTS[state]}
    </span>
  );
}

function Who(): ReactNode {
  const { name, signOut } = useSession();
  if (name === null) return null;
  return (
    <span className="who">
      <bdi title={name}>{name}</bdi>
      <Button isSmall variant="quiet" onPress={signOut}>
        Sign out
      </Button>
    </span>
  );
}

function ThemeSwitch(): ReactNode {
  const [theme, setTheme] = useState(readTheme);
  const choose = (next: Theme): void => {
    applyTheme(next);
    setTheme(next);
  };
  return (
    <label className="theme-switch">
      <span>Theme</span>
      <select
        // The label is hidden in narrow windows.
        aria-label="Theme"
        value={theme}
        onChange={({ target }) => choose(THEMES.find((name) => name === target.value) ?? 'system')}
      >
        {THEMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** One choice for all times on the page. */
function ZoneSwitch(): ReactNode {
  const zone = useZone();
  return (
    <label className="theme-switch">
      <span>Times</span>
      <select
        aria-label="Time zone"
        value={zone}
        onChange={({ target }) =>
          chooseZone(ZONES.find((name) => name === target.value) ?? 'local')
        }
      >
        {ZONES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}
