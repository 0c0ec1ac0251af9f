import type { ReactNode } from 'react';
import { usePathParts } from '../../app/path.js';
import { DefinitionEditorPage } from './definition-editor-page.js';
import { DefinitionPage } from './definition-page.js';
import { DefinitionsPage } from './definitions-page.js';
import { StartPage } from './start-page.js';

/** `/definitions`, `/definitions/<id>`, `/definitions/<id>/edit`, `/definitions/<id>/start` and `/new-definition`. */
export default function DefinitionsRoutes(): ReactNode {
  const [root, id = '', verb] = usePathParts();
  if (root === 'new-definition') return <DefinitionEditorPage key="new" id={null} />;
  if (id === '') return <DefinitionsPage />;
  if (verb === 'edit') return <DefinitionEditorPage key={`edit ${id}`} id={id} />;
  if (verb === 'start') return <StartPage key={`start ${id}`} id={id} />;
  return <DefinitionPage key={id} id={id} />;
}
