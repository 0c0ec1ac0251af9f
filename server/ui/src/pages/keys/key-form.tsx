import type { CreatedApiKey } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { ChoiceField } from '../../components/choice-field.js';
import { DialogForm } from '../../components/dialog-form.js';
import { TextField } from '../../components/text-field.js';

const SCOPES = {
  'conductor:viewer': 'viewer: see runs, definitions and events',
  'conductor:controller': 'controller: start and control runs, publish events',
  'conductor:author': 'author: change definitions, custom steps, webhooks and notifications',
  'conductor:worker': 'worker: do the work of activities',
  'conductor:admin': 'admin: everything, also API keys and the audit log',
};
/** A prefix limits these to some definitions, or to some activities. */
const NARROWABLE: ReadonlySet<string> = new Set([
  'conductor:viewer',
  'conductor:controller',
  'conductor:worker',
]);

const DAY_MS = 86_400_000;
const EXPIRY = { '30': 'in 30 days', '90': 'in 90 days', '365': 'in a year', never: 'never' };

/** Creates an API key. */
export function KeyForm({
  onCreated,
  onClose,
}: {
  readonly onCreated: (key: CreatedApiKey) => void;
  readonly onClose: () => void;
}): ReactNode {
  const { client } = useSession();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [prefix, setPrefix] = useState('');
  const [expiry, setExpiry] = useState('90');
  const create = async (): Promise<void> => {
    const expires = expiresOf(expiry);
    const narrowed = scopes.map((scope) => narrowedBy(prefix, scope));
    const settings = { name, scopes: narrowed, ...(expires !== null && { expires }) };
    onCreated(await client.keys.create(settings));
  };
  return (
    <DialogForm
      title="New API key"
      submit="Create"
      needs="admin"
      isInvalid={scopes.length === 0}
      hint="The key is shown only once. Its calls appear under this name in the audit log."
      onSubmit={create}
      onClose={onClose}
    >
      <TextField label="Name" isRequired value={name} onChange={setName} />
      <fieldset className="key-scopes">
        <legend>The key may</legend>
        {Object.entries(SCOPES).map(([scope, label]) => (
          <label key={scope} className="dialog-checkbox">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={({ target }) => {
                const others = scopes.filter((each) => each !== scope);
                setScopes(target.checked ? [...others, scope] : others);
              }}
            />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
      {scopes.some((scope) => NARROWABLE.has(scope)) && (
        <TextField
          label="Only names that begin with"
          hint="Limits viewer and controller to these definitions, worker to these activities. Empty: all."
          value={prefix}
          onChange={setPrefix}
        />
      )}
      <ChoiceField label="It expires" value={expiry} choices={EXPIRY} onChange={setExpiry} />
    </DialogForm>
  );
}

function narrowedBy(prefix: string, scope: string): string {
  return prefix === '' || !NARROWABLE.has(scope) ? scope : `${scope}:${prefix}*`;
}

function expiresOf(expiry: string): string | null {
  const days = Number(expiry);
  return Number.isNaN(days) ? null : new Date(Date.now() + days * DAY_MS).toISOString();
}
