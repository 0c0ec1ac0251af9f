/** Every page: its address, its place in the navigation, its component. */
import type { ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Page } from '../components/page.js';
import { EmptyState } from '../components/empty-state.js';
import { DefinitionsRoutes } from '../pages/definitions/definitions-routes.js';
import { RunPage } from '../pages/run/run-page.js';
import { RunsPage } from '../pages/runs/runs-page.js';

export const NAVIGATION: readonly { readonly path: string; readonly label: string }[] = [
  { path: '/runs', label: 'Runs' },
  { path: '/definitions', label: 'Definitions' },
];

export function Pages(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/runs" replace />
      </Route>
      <Route path="/runs" component={RunsPage} />
      <Route path="/definitions/*?" component={DefinitionsRoutes} />
      <Route path="/runs/*" component={RunPage} />
      <Route>
        <Page title="Nothing here">
          <EmptyState title="There is no page at this address.">
            <p>Choose one in the navigation.</p>
          </EmptyState>
        </Page>
      </Route>
    </Switch>
  );
}
