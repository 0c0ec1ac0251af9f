/** Every page of the operator's page, and every dialog and menu on it. Tests walk through the list. */
import type { Page } from 'playwright-core';
import type { Refunds } from './refunds.js';
import type { Shop } from './shop.js';

/** The runs and jobs whose pages are shown. */
export interface Seeded {
  readonly shop: Shop;
  readonly refunds: Refunds;
  readonly jobId: string;
}

export interface View {
  readonly name: string;
  /** Below `/ui`. */
  readonly path: string | ((seeded: Seeded) => string);
  /** A selector of something that is there when the view is ready. */
  readonly ready: string;
  /** What the user does to see it. */
  readonly open?: (page: Page) => Promise<void>;
  /** The file below `src` that contains the dialog or menu. */
  readonly from?: string;
  /** What the browser reports, such as a status that is part of the view. */
  readonly error?: RegExp;
}

const TABLE = 'main table';

const click =
  (name: string | RegExp, within = 'body') =>
  (page: Page): Promise<void> =>
    page.locator(within).getByRole('button', { name }).first().click();

const unfold =
  (selector: string) =>
  (page: Page): Promise<void> =>
    page.locator(`${selector} > summary`).first().click();

const inMenu =
  (name: RegExp) =>
  async (page: Page): Promise<void> => {
    await unfold('.page-actions .menu')(page);
    await click(name, '.page-actions')(page);
  };

const order = ({ shop }: Seeded): string => `/runs/${shop.order}`;

const LISTS: readonly View[] = [
  { name: 'the first page', path: '/', ready: '.bar-chart' },
  { name: 'overview', path: '/overview', ready: '.bar-chart' },
  { name: 'runs', path: '/runs', ready: 'text=order-4711' },
  { name: 'runs, none', path: '/runs?reference=nobody', ready: 'text=No run matches' },
  { name: 'runs, malformed', path: '/runs?where=%3D%3D', ready: '.malformed' },
  {
    name: 'runs, some selected',
    path: '/runs',
    ready: 'text=1 selected',
    open: (page) => page.locator('tbody input[type=checkbox]').first().check(),
  },
  {
    name: 'runs, suggestions of the search box',
    path: '/runs?definitionId=trip',
    ready: '[role=listbox] [role=option]',
    open: async (page) => {
      await page.getByText('Bob').or(page.locator(TABLE)).first().waitFor();
      await page.getByRole('combobox', { name: /^Find runs/ }).pressSequentially('tr');
    },
  },
  {
    name: 'runs, found by a text',
    path: '/runs',
    ready: '.found-runs li',
    open: async (page) => {
      await page.getByRole('combobox', { name: /^Find runs/ }).fill('der-47');
      await page.keyboard.press('Enter');
    },
  },
  { name: 'failures', path: '/failures', ready: TABLE },
  { name: 'bulk jobs', path: '/bulk', ready: TABLE },
  { name: 'a bulk job', path: ({ jobId }) => `/bulk/${jobId}`, ready: TABLE },
  { name: 'events', path: '/events', ready: TABLE },
  { name: 'one event', path: '/events?name=arrived&key=k', ready: '.event-waiters table' },
  { name: 'activities', path: '/activities', ready: TABLE },
  { name: 'an activity', path: '/activities/book', ready: TABLE },
  { name: 'limits', path: '/limits', ready: TABLE },
  { name: 'a limit', path: '/limits/pay-api', ready: TABLE },
  { name: 'workers', path: '/workers', ready: TABLE },
  { name: 'a worker', path: '/workers/busy', ready: TABLE },
  { name: 'schedule', path: '/schedule', ready: '.schedule-entry' },
  { name: 'notifications', path: '/notifications', ready: TABLE },
  {
    name: 'a notification',
    path: '/notifications/audit',
    ready: '.answer-body, td code',
  },
  { name: 'webhooks', path: '/webhooks', ready: TABLE },
  { name: 'secrets', path: '/secrets', ready: TABLE },
  { name: 'API keys', path: '/keys', ready: TABLE },
  { name: 'the audit log', path: '/audit', ready: TABLE },
  { name: 'nodes', path: '/nodes', ready: TABLE },
  { name: 'no page', path: '/nowhere', ready: 'text=There is no page at this address.' },
];

const RUN: readonly View[] = [
  { name: 'a run, overview', path: order, ready: 'text=Charge the card' },
  { name: 'a run, steps', path: (ids) => `${order(ids)}?tab=steps`, ready: '.step-rows > li' },
  {
    name: 'a run, steps, filtered',
    path: (ids) => `${order(ids)}?tab=steps&status=Complete&search=order-4711`,
    ready: 'text=match',
  },
  {
    name: 'a run, steps, one turn',
    path: (ids) => `${order(ids)}?tab=steps&step=charge&turn=1`,
    ready: 'text=1 execution matches.',
  },
  {
    name: 'a run, steps, none',
    path: (ids) => `${order(ids)}?tab=steps&search=nobody`,
    ready: 'text=No execution matches',
  },
  { name: 'a run, data', path: (ids) => `${order(ids)}?tab=data`, ready: 'text=Ada Lovelace' },
  {
    name: 'a run, log',
    path: ({ shop }) => `/runs/${shop.greeting}?tab=log`,
    ready: TABLE,
  },
  {
    name: 'a run, log of one step',
    path: ({ shop }) => `/runs/${shop.unpaid}?tab=log&step=pack`,
    ready: '.log-filter',
  },
  {
    name: 'a run, history',
    path: ({ shop }) => `/runs/${shop.stopped}?tab=history`,
    ready: 'text=anonymous',
  },
  {
    name: 'a failed run',
    path: ({ shop }) => `/runs/${shop.invoice}?tab=steps`,
    ready: 'text=Traceback',
    open: (page) => page.locator('section.why').getByText('Python traceback').click(),
  },
  { name: 'a retry', path: ({ shop }) => `/runs/${shop.sync}`, ready: 'text=Retry now' },
  { name: 'an ended run', path: ({ shop }) => `/runs/${shop.greeting}`, ready: '.timeline' },
  { name: 'a parent', path: ({ refunds }) => `/runs/${refunds.batch}`, ready: 'text=1 run' },
  {
    name: 'no run',
    path: '/runs/nothing',
    ready: 'text=There is no run with this id.',
  },
  { name: 'the repair panel', path: (ids) => `${order(ids)}?repair=`, ready: '.repair-preview' },
  {
    name: 'the repair panel, a change of the data',
    path: ({ shop }) => `/runs/${shop.invoice}?repair=`,
    ready: 'details.repair-part[open] .cm-line',
    open: unfold('details.repair-part'),
  },
];

const AUTHORING: readonly View[] = [
  { name: 'definitions', path: '/definitions', ready: TABLE },
  { name: 'a definition, graph', path: '/definitions/trip', ready: '.react-flow__edge, .outline' },
  {
    name: 'a definition, triggers',
    path: '/definitions/report?view=triggers',
    ready: '.trigger-times details[open]',
    open: unfold('.trigger-times details'),
  },
  { name: 'a definition, document', path: '/definitions/trip?view=document', ready: '.cm-line' },
  {
    name: 'a definition, changes',
    path: '/definitions/trip?view=changes',
    ready: '.cm-changedLine',
  },
  { name: 'a disabled definition', path: '/definitions/resting', ready: '.disabled-note' },
  { name: 'the editor', path: '/definitions/trip/edit', ready: '.findings' },
  { name: 'a new definition', path: '/new-definition', ready: '.cm-line' },
  { name: 'the start form', path: '/definitions/trip/start', ready: '.data-form' },
  { name: 'steps', path: '/steps', ready: TABLE },
  { name: 'a step', path: '/steps/quote', ready: '.cm-line' },
  { name: 'a step, edited', path: '/steps/quote', ready: '.cm-content', open: click('Edit') },
  { name: 'a new step', path: '/new-step', ready: '.cm-line' },
];

/** Each opens with the button of this name, in a dialog. */
const DIALOGS: readonly View[] = (
  [
    {
      name: 'terminate a run',
      path: order,
      open: click('Terminate'),
      from: 'pages/run/run-actions.tsx',
    },
    {
      name: 'tags of a run',
      path: order,
      open: click('Edit tags'),
      from: 'pages/run/run-fields.tsx',
    },
    {
      name: 'priority of a run',
      path: order,
      open: click('Change priority'),
      from: 'pages/run/run-fields.tsx',
    },
    {
      name: 'publish the event of a run',
      path: order,
      open: click('Publish the event'),
      from: 'pages/run/action-forms.tsx',
    },
    {
      name: 'complete the work item of a run',
      path: ({ shop }) => `/runs/${shop.unpaid}`,
      open: click('Complete', 'section.why'),
      from: 'pages/activities/answer-form.tsx',
    },
    {
      name: 'fail a work item',
      path: '/activities/book',
      open: click('Fail', TABLE),
      from: 'pages/activities/answer-form.tsx',
    },
    {
      name: 'restart a run',
      path: order,
      open: inMenu(/^Restart/),
      from: 'pages/run/run-menu.tsx',
    },
    {
      name: 'purge a run',
      path: ({ shop }) => `/runs/${shop.greeting}`,
      open: inMenu(/^Purge/),
      from: 'pages/run/run-menu.tsx',
    },
    {
      name: 'publish an event',
      path: '/events',
      open: click('Publish an event'),
      from: 'pages/events/publish-form.tsx',
    },
    {
      name: 'disable a definition',
      path: '/definitions/trip',
      open: click('Disable'),
      from: 'pages/definitions/availability.tsx',
    },
    {
      name: 'a new notification',
      path: '/notifications',
      open: click('New notification'),
      from: 'pages/notifications/notification-form.tsx',
    },
    {
      name: 'a new webhook',
      path: '/webhooks',
      open: click('New webhook'),
      from: 'pages/webhooks/webhook-form.tsx',
    },
    {
      name: 'delete a webhook',
      path: '/webhooks',
      open: click('Delete', 'tbody tr:first-child'),
      from: 'pages/webhooks/webhooks-page.tsx',
    },
    {
      name: 'a new limit',
      path: '/limits',
      open: click('New limit'),
      from: 'pages/limits/limit-form.tsx',
    },
    {
      name: 'change a limit',
      path: '/limits/pay-api',
      open: click('Change'),
      from: 'pages/limits/limit-form.tsx',
    },
    {
      name: 'remove a limit',
      path: '/limits/pay-api',
      open: click('Remove'),
      from: 'pages/limits/limit-page.tsx',
    },
    {
      name: 'a new API key',
      path: '/keys',
      open: click('New API key'),
      from: 'pages/keys/key-form.tsx',
    },
    {
      name: 'remove an API key',
      path: '/keys',
      open: click('Remove', 'tbody tr:first-child'),
      from: 'pages/keys/keys-page.tsx',
    },
    {
      name: 'delete a notification',
      path: '/notifications/audit',
      open: click('Delete'),
      from: 'pages/notifications/notification-buttons.tsx',
    },
    {
      name: 'fire a trigger',
      path: '/definitions/report?view=triggers',
      open: click('Fire now'),
      from: 'pages/definitions/trigger-buttons.tsx',
    },
    {
      name: 'backfill a trigger',
      path: '/definitions/report?view=triggers',
      open: click('Backfill'),
      from: 'pages/definitions/backfill-form.tsx',
    },
    {
      name: 'act on a group of failures',
      path: '/failures',
      open: click(/^Act on all/),
      from: 'pages/bulk/bulk-dialog.tsx',
    },
    ...['Terminate', 'Repair'].map((action) => ({
      name: `${action.toLowerCase()} many runs`,
      path: '/runs',
      open: async (page: Page) => {
        await page.getByLabel('Select all matching runs').check();
        await click(new RegExp(`^${action}`), '.bulk-bar')(page);
        await page.locator('.bulk-matches').waitFor();
      },
      from: 'pages/bulk/bulk-dialog.tsx',
    })),
  ] satisfies Omit<View, 'ready'>[]
).map((view) => ({ ...view, ready: '[role=dialog]' }));

const MENUS: readonly View[] = [
  {
    name: 'the menu of a run',
    path: order,
    ready: '.menu[open]',
    open: unfold('.page-actions .menu'),
    from: 'pages/run/run-menu.tsx',
  },
  {
    name: 'export of the list',
    path: '/runs',
    ready: '.menu[open]',
    open: unfold('.list-tools .menu'),
    from: 'pages/runs/export-menu.tsx',
  },
  {
    name: 'columns of the list',
    path: '/runs?definitionId=trip',
    ready: '.column-picker[open] label',
    open: unfold('.column-picker'),
  },
  {
    name: 'saved views',
    path: '/runs',
    ready: '.saved-views li',
    open: async (page) => {
      await unfold('.saved-views')(page);
      await page.getByLabel('Name of this view').fill('mine');
      await click('Save', '.saved-views')(page);
    },
  },
  {
    name: 'the filters of the list',
    path: '/runs',
    ready: '.filter-bar',
    // Only a narrow window folds the filters.
    open: async (page) => {
      const fold = page.locator('.filter-fold');
      if (await fold.isVisible()) await fold.click();
    },
  },
];

export const VIEWS: readonly View[] = [...LISTS, ...RUN, ...AUTHORING, ...DIALOGS, ...MENUS];
