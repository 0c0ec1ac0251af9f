/** The addresses of all pages, below `/ui`; `*` stands for a name, `*?` for an optional name. */
export const ROUTES = [
  '/runs',
  '/runs/*',
  '/definitions/*?',
  '/new-definition',
  '/events',
  '/activities/*?',
  '/steps/*?',
  '/new-step',
  '/nodes',
] as const;

export type RoutePath = (typeof ROUTES)[number];
