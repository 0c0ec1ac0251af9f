/** The addresses of all pages, below `/ui`; `*` stands for a name, `*?` for an optional name. */
export const ROUTES = [
  '/overview',
  '/runs',
  '/runs/*',
  '/failures',
  '/bulk/*?',
  '/definitions/*?',
  '/new-definition',
  '/schedule',
  '/events',
  '/activities/*?',
  '/limits/*?',
  '/workers/*?',
  '/steps/*?',
  '/new-step',
  '/notifications/*?',
  '/webhooks',
  '/secrets',
  '/keys',
  '/audit',
  '/nodes',
] as const;

export type RoutePath = (typeof ROUTES)[number];
