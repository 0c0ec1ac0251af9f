import type { ReactNode } from 'react';
import { usePathParts } from '../../app/path.js';
import { DefinitionPage } from './definition-page.js';
import { DefinitionsPage } from './definitions-page.js';

/** `/definitions` and `/definitions/<id>`. */
export function DefinitionsRoutes(): ReactNode {
  const [, id = ''] = usePathParts();
  return id === '' ? <DefinitionsPage /> : <DefinitionPage key={id} id={id} />;
}
