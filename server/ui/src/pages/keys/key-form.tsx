import type { ApiKey, CreatedApiKey } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { ChoiceField } from '../../components/choice-field.js';
import { DialogForm } from '../../components/dialog-form.js';
import { TextField } from '../../components/text-field.js';

type KeyScope = ApiKey['scopes'][number];

const SCOPES: Readonly<Record<KeyScope, string>> = {
  'conductor:viewer': 'viewer: see runs, definitions and events',
  'conductor:controller': 'controller: start and control runs, publish events',
  'conductor:author': 'author: change definitions, custom steps, webhooks and notifications',
  'conductor:worker': 'worker: do the work of activities',
  'conductor:admin': 'admin: everything, also API keys and the audit log',
};
// Object.entries loses the type of the keys.
const CHOICES = Object.entries(SCOPES) as readonly [KeyScope, string][];

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
  const [scopes, setScopes] = useState<readonly KeyScope[]>([]);
  const [expiry, setExpiry] = useState('90');
  const create = async (): Promise<void> => {
    const expires = expiresOf(expiry);
    const settings = { name, scopes: [...scopes], ...(expires !== null && { expires }) };
    onCreated(await client.keys.create(settings));
  };
  return (
    <DialogForm
      title="New API key"
      submit="Create"
      needs="admin"
      isInvalid={scopes.length === 0}
      hint="The key is shown once. The audit log names its calls by the name."
      onSubmit={create}
      onClose={onClose}
    >
      <TextField label="Name" isRequired value={name} onChange={setName} />
      <fieldset className="key-scopes">
        <legend>The key may</legend>
        {CHOICES.map(([scope, label]) => (
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
      <ChoiceField label="It expires" value={expiry} choices={EXPIRY} onChange={setExpiry} />
    </DialogForm>
  );
}

function expiresOf(expiry: string): string | null {
  const days = Number(expiry);
  return Number.isNaN(days) ? null : new Date(Date.now() + days * DAY_MS).toISOString();
}
