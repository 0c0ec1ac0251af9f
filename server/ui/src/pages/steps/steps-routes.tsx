import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { toPath, usePathParts } from '../../app/path.js';
import { Page } from '../../components/page.js';
import '../definitions/definitions.css';
import { ScriptEditor } from './script-editor.js';
import { StepPage } from './step-page.js';
import { StepsPage } from './steps-page.js';

/** `/steps`, `/steps/<name>` and `/new-step`. */
export default function StepsRoutes(): ReactNode {
  const [root, name = ''] = usePathParts();
  if (root === 'new-step') return <NewStepPage />;
  return name === '' ? <StepsPage /> : <StepPage key={name} name={name} />;
}

const FIRST_SCRIPT =
  '# Inputs are variables. All variables at the end of the script are outputs.\ntotal = a + b\n';

function NewStepPage(): ReactNode {
  const [name, setName] = useState('');
  const [, navigate] = useLocation();
  return (
    <Page title="New step">
      <div className="stacked">
        <label className="field narrow">
          <span>Name (StepType in definitions)</span>
          <input required value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        <ScriptEditor
          name={name}
          initialScript={FIRST_SCRIPT}
          latestVersion={null}
          onStored={() => navigate(toPath('steps', name))}
        />
      </div>
    </Page>
  );
}
