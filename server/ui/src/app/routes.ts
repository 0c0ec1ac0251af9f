/** The addresses of all pages, below `/ui`; `*` stands for a name, `*?` for an optional name. */
export const ROUTES = [
  '/overview',
  '/runs',
  '/runs/*',
  '/failures',
  '/bulk/*?',
  '/definitions/*?',
  '/new-definition',
  '/events',
  '/activities/*?',
  '/workers/*?',
  '/steps/*?',
  '/new-step',
  '/nodes',
] as const;

export type RoutePath = (typeof ROUTES)[number];
