import type { Webhook } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { ChoiceField } from '../../components/choice-field.js';
import { DialogForm } from '../../components/dialog-form.js';
import { SecretField } from '../../components/secret-field.js';
import { TextField } from '../../components/text-field.js';
import { useToasts } from '../../components/toasts.js';
import {
  choicesOf,
  EFFECTS,
  newSecret,
  requestOf,
  SCHEMES,
  type WebhookChoices,
} from './webhook-choices.js';

interface WebhookFormProps {
  /** The one to edit; null for a new one. */
  readonly existing: Webhook | null;
  readonly onStored: () => void;
  readonly onClose: () => void;
}

interface FieldsProps {
  readonly choices: WebhookChoices;
  readonly onChange: (change: Partial<WebhookChoices>) => void;
}

/** Creates or changes a webhook. */
export function WebhookForm({ existing, onStored, onClose }: WebhookFormProps): ReactNode {
  const { client } = useSession();
  const { say } = useToasts();
  const [choices, setChoices] = useState(() => choicesOf(existing));
  const { name, scheme, secret } = choices;
  const change: FieldsProps['onChange'] = (next) => setChoices({ ...choices, ...next });
  const store = async (): Promise<void> => {
    const { path } = await client.webhooks.put(name, requestOf(choices));
    say(existing === null ? `${name} is called at ${path}.` : `${name} was changed.`);
    onStored();
  };
  return (
    <DialogForm
      title={existing === null ? 'New webhook' : `Edit ${existing.name}`}
      submit={existing === null ? 'Create' : 'Save'}
      needs="author"
      hint="Other systems call it at /hooks/<name>. Calls without a valid signature have no effect."
      onSubmit={store}
      onClose={onClose}
    >
      {existing === null && (
        <TextField
          label="Name"
          isRequired
          value={name}
          onChange={(next) => change({ name: next })}
        />
      )}
      <ChoiceField
        label="Signed as"
        value={scheme}
        choices={Object.fromEntries(SCHEMES.map((each) => [each.scheme, each.label]))}
        onChange={(next) => change({ scheme: next as WebhookChoices['scheme'] })}
      />
      {scheme === 'hmac' && <HmacFields choices={choices} onChange={change} />}
      <SecretField
        label={existing === null ? 'Secret that the sender signs with' : null}
        value={secret}
        generate={() => newSecret(scheme)}
        onChange={(next) => change({ secret: next })}
      />
      <EffectFields choices={choices} onChange={change} />
    </DialogForm>
  );
}

function HmacFields({ choices, onChange }: FieldsProps): ReactNode {
  const { algorithm, encoding, header, idHeader, prefix } = choices;
  return (
    <>
      <TextField
        label="Header with the signature"
        isRequired
        value={header}
        onChange={(next) => onChange({ header: next })}
      />
      <ChoiceField
        label="Algorithm"
        value={algorithm}
        choices={{ sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }}
        onChange={(next) => onChange({ algorithm: next as WebhookChoices['algorithm'] })}
      />
      <ChoiceField
        label="Encoding"
        value={encoding}
        choices={{ hex: 'hexadecimal', base64: 'Base64' }}
        onChange={(next) => onChange({ encoding: next as WebhookChoices['encoding'] })}
      />
      <TextField
        label="Text before the signature, such as sha256="
        value={prefix}
        onChange={(next) => onChange({ prefix: next })}
      />
      <TextField
        label="Header with the id of the delivery (empty: repetitions are not recognized)"
        value={idHeader}
        onChange={(next) => onChange({ idHeader: next })}
      />
    </>
  );
}

function EffectFields({ choices, onChange }: FieldsProps): ReactNode {
  const { data, definitionId, effect, eventKey, eventName, reference } = choices;
  return (
    <>
      <ChoiceField
        label="On each call"
        value={effect}
        choices={EFFECTS}
        onChange={(next) => onChange({ effect: next as WebhookChoices['effect'] })}
      />
      {effect === 'start' ? (
        <>
          <TextField
            label="Definition"
            isRequired
            value={definitionId}
            onChange={(next) => onChange({ definitionId: next })}
          />
          <TextField
            label="Reference (an expression; empty: none)"
            value={reference}
            onChange={(next) => onChange({ reference: next })}
          />
        </>
      ) : (
        <>
          <TextField
            label="Event name (an expression, such as 'paid')"
            isRequired
            value={eventName}
            onChange={(next) => onChange({ eventName: next })}
          />
          <TextField
            label={`Event key (an expression, such as hook.body["id"])`}
            isRequired
            value={eventKey}
            onChange={(next) => onChange({ eventKey: next })}
          />
        </>
      )}
      <label className="field">
        <span>Data: an expression, or JSON with @-members (empty: the body of the call)</span>
        <textarea
          rows={3}
          spellCheck={false}
          value={data}
          onChange={({ target }) => onChange({ data: target.value })}
        />
      </label>
    </>
  );
}
