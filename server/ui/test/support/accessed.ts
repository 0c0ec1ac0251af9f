/** Webhooks, API keys and secrets in the states that the page shows. */
import type { StepwrightClient } from '@stepwright/sdk';

/** Settings of a server that has the secret `SHOP_TOKEN`. */
export const SECRET_SETTINGS = { secret_SHOP_TOKEN: 'a value that nobody sees' };

/** The webhooks `shop-paid` and `github`, two keys, and a definition that uses a secret and a missing one. */
export async function openAccess(client: StepwrightClient): Promise<void> {
  const { definitions, keys, webhooks } = client;
  await definitions.register({
    id: 'call-shop',
    steps: [
      {
        id: 'call',
        stepType: 'HttpRequest',
        inputs: {
          baseUrl: "'https://shop.example'",
          headers: { '@Authorization': "'Bearer ' + secrets.SHOP_TOKEN" },
          parameters: { '@site': 'secrets.SHOP_SITE' },
        },
      },
    ],
  });
  const secret = 'a long random text';
  await webhooks.put('github', {
    scheme: 'github',
    secret,
    start: { definitionId: 'call-shop', reference: 'hook.body["repository"]["full_name"]' },
  });
  await webhooks.put('shop-paid', {
    scheme: 'hmac',
    header: 'X-Shop-Signature',
    secret,
    publish: { name: "'paid'", key: 'hook.body["id"]', data: { '@sum': 'hook.body["sum"]' } },
  });
  await keys.create({ name: 'billing', scopes: ['conductor:worker'] });
  const expires = new Date(Date.now() + 90 * 86_400_000).toISOString();
  await keys.create({ name: 'deploy', scopes: ['conductor:author', 'conductor:viewer'], expires });
}
