import { useState, type ReactNode } from 'react';
import { Button } from '../components/button.js';
import { useSession } from './session.js';

/** Shown instead of a page when the server requires a token. */
export function SignIn({ reason }: { readonly reason: string }): ReactNode {
  const { signIn } = useSession();
  const [text, setText] = useState('');
  const token = text.trim().replace(/^bearer\s+/i, '');
  return (
    <form
      className="sign-in panel"
      onSubmit={(event) => {
        event.preventDefault();
        if (token !== '') signIn(token);
      }}
    >
      <h1 tabIndex={-1}>Sign in</h1>
      <p role="status">{reason}</p>
      <label className="field">
        <span>Bearer token</span>
        <textarea
          name="token"
          rows={5}
          value={text}
          autoFocus
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <p className="hint">
        The token needs the scope <code>conductor:viewer</code> to view,{' '}
        <code>conductor:controller</code> to control runs and <code>conductor:author</code> to write
        definitions. The page keeps the token until you close this tab. To create one, run{' '}
        <code>pnpm token</code> on the server.
      </p>
      <Button type="submit" variant="primary" isDisabled={token === ''}>
        Sign in
      </Button>
    </form>
  );
}
