/** The pages: their URLs, components and navigation entries. */
import { lazy, type ComponentType, type ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Page } from '../components/page.js';
import { EmptyState } from '../components/empty-state.js';
import { ActivitiesRoutes } from '../pages/activities/activities-routes.js';
import { AuditPage } from '../pages/audit/audit-page.js';
import { BulkRoutes } from '../pages/bulk/bulk-routes.js';
import { EventsPage } from '../pages/events/events-page.js';
import { FailuresPage } from '../pages/failures/failures-page.js';
import { KeysPage } from '../pages/keys/keys-page.js';
import { LimitsRoutes } from '../pages/limits/limits-routes.js';
import { NodesPage } from '../pages/nodes/nodes-page.js';
import { NotificationsRoutes } from '../pages/notifications/notifications-routes.js';
import { OverviewPage } from '../pages/overview/overview-page.js';
import { RunPage } from '../pages/run/run-page.js';
import { RunsPage } from '../pages/runs/runs-page.js';
import { SchedulePage } from '../pages/schedule/schedule-page.js';
import { SecretsPage } from '../pages/secrets/secrets-page.js';
import { WebhooksPage } from '../pages/webhooks/webhooks-page.js';
import { WorkersRoutes } from '../pages/workers/workers-routes.js';
import { ROUTES, type RoutePath } from './routes.js';

// Loaded on demand because only these pages need a YAML parser.
const StepsRoutes = lazy(() => import('../pages/steps/steps-routes.js'));
const DefinitionsRoutes = lazy(() => import('../pages/definitions/definitions-routes.js'));

export const NAVIGATION: readonly { readonly path: string; readonly label: string }[] = [
  { path: '/overview', label: 'Overview' },
  { path: '/runs', label: 'Runs' },
  { path: '/failures', label: 'Failures' },
  { path: '/bulk', label: 'Bulk jobs' },
  { path: '/definitions', label: 'Definitions' },
  { path: '/schedule', label: 'Schedule' },
  { path: '/events', label: 'Events' },
  { path: '/activities', label: 'Activities' },
  { path: '/limits', label: 'Limits' },
  { path: '/workers', label: 'Workers' },
  { path: '/steps', label: 'Steps' },
  { path: '/notifications', label: 'Notifications' },
  { path: '/webhooks', label: 'Webhooks' },
  { path: '/secrets', label: 'Secrets' },
  { path: '/keys', label: 'API keys' },
  { path: '/audit', label: 'Audit log' },
  { path: '/nodes', label: 'Nodes' },
];

const COMPONENTS: Readonly<Record<RoutePath, ComponentType>> = {
  '/overview': OverviewPage,
  '/runs': RunsPage,
  '/runs/*': RunPage,
  '/failures': FailuresPage,
  '/bulk/*?': BulkRoutes,
  '/definitions/*?': DefinitionsRoutes,
  '/new-definition': DefinitionsRoutes,
  '/schedule': SchedulePage,
  '/events': EventsPage,
  '/activities/*?': ActivitiesRoutes,
  '/limits/*?': LimitsRoutes,
  '/workers/*?': WorkersRoutes,
  '/steps/*?': StepsRoutes,
  '/new-step': StepsRoutes,
  '/notifications/*?': NotificationsRoutes,
  '/webhooks': WebhooksPage,
  '/secrets': SecretsPage,
  '/keys': KeysPage,
  '/audit': AuditPage,
  '/nodes': NodesPage,
};

export function Pages(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/overview" replace />
      </Route>
      {ROUTES.map((path) => (
        <Route key={path} path={path} component={COMPONENTS[path]} />
      ))}
      <Route>
        <Page title="Page not found">
          <EmptyState title="There is no page at this address.">
            <p>Choose a page in the navigation.</p>
          </EmptyState>
        </Page>
      </Route>
    </Switch>
  );
}
