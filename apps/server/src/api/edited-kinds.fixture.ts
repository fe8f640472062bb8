import type { Product, Server } from '@netlet/contract'

export type Row = Record<string, unknown> & { id: number; version: string }
export type Form = Record<string, unknown>

const ids = (rows: unknown) => (rows as { id: number }[]).map(row => row.id)

/** The customer who has a promo code. */
export const HOLDER = 'holder'

/** An edited kind: its list, the form that its row opens, and three values for a field of the form. */
export type Kind = {
  name: string
  path: string
  /** The row among those of the list; without it the first one. */
  which?: Form
  form: (row: Row) => Form
  field: string
  values: (rules: number[]) => [unknown, unknown, unknown]
}

/** Every kind of row that an administrator edits. Each has a row in a stocked shop with a level and a group of rules. */
export const KINDS: Kind[] = [
  {
    name: 'gift card',
    path: '/api/rewards/gift_card/',
    form: ({ mount, code, point }) => ({ mount, code, point }),
    field: 'mount',
    values: () => ['6.00', '7.00', '8.00']
  },
  {
    name: 'promo code',
    path: '/api/rewards/coupon_code/',
    form: ({ username, code, discount, code_type, is_used }) => ({ username, code, discount, code_type, is_used }),
    field: 'discount',
    values: () => ['2.00', '3.00', '4.00']
  },
  {
    name: 'level',
    path: '/api/rewards/level_code/',
    form: ({ discount, code, point }) => ({ discount, code, point }),
    field: 'point',
    values: () => [200, 300, 400]
  },
  {
    name: 'question',
    path: '/api/tickets/fqa/',
    form: ({ question, answer }) => ({ question, answer }),
    field: 'answer',
    values: () => ['So.', 'Not so.', 'Perhaps.']
  },
  {
    name: 'saved reply',
    path: '/api/tickets/saved_reply/',
    form: ({ title, text }) => ({ title, text }),
    field: 'text',
    values: () => ['So.', 'Not so.', 'Perhaps.']
  },
  {
    name: 'collection',
    path: '/api/products/product_collections/',
    form: ({ collection_name, collection_desc }) => ({ collection_name, collection_desc }),
    field: 'collection_name',
    values: () => ['North', 'South', 'West']
  },
  {
    name: 'tag',
    path: '/api/products/product_tags/',
    form: ({ tag_name, tag_desc }) => ({ tag_name, tag_desc }),
    field: 'tag_desc',
    values: () => ['Quick', 'Quicker', 'Quickest']
  },
  {
    name: 'product',
    path: '/api/products/products/',
    form: productForm,
    field: 'product_name',
    values: () => ['Homes', 'Offices', 'Phones']
  },
  {
    name: 'server group',
    path: '/api/servers/server-groups/',
    form: ({ name, servers }) => ({ name, description: 'Group', servers: ids(servers) }),
    field: 'name',
    values: () => ['east', 'west', 'north']
  },
  {
    name: 'server',
    path: '/api/servers/servers/',
    form: serverForm,
    field: 'proxy_port',
    values: () => [4001, 4002, 4003]
  },
  {
    name: 'access rule',
    path: '/api/servers/acls/',
    form: ({ name, price, shopify_variant_id, acl_value }) => ({
      name,
      price,
      shopify_variant_id,
      description: 'Rule',
      acl_value
    }),
    field: 'acl_value',
    values: () => ['three.test', 'four.test', 'five.test']
  },
  {
    name: 'group of access rules',
    path: '/api/servers/acl-groups/',
    form: ({ name, description, acls }) => ({ name, description, acls: ids(acls) }),
    field: 'acls',
    values: rules => [rules.slice(0, 1), rules.slice(1), rules]
  },
  {
    name: 'address range',
    path: '/api/servers/cidrs/',
    form: ({ exclude_acl }) => ({ exclude_acl: ids(exclude_acl) }),
    field: 'exclude_acl',
    values: rules => [rules.slice(0, 1), rules.slice(1), rules]
  },
  {
    name: 'user',
    path: '/api/users/u/',
    which: { username: HOLDER },
    form: ({ email, is_active, is_superuser, reward_points }) => ({ email, is_active, is_superuser, reward_points }),
    field: 'email',
    values: () => ['second@example.com', 'third@example.com', 'fourth@example.com']
  }
]

function productForm(row: Row): Form {
  const { shopify_product_id, product_name, product_desc, active, variants, product_tags } = row as Row & Product
  return {
    shopify_product_id,
    product_name,
    product_desc,
    active,
    variants: variants.map(variant => ({ ...variant, server_group: variant.server_group?.id })),
    product_tags: ids(product_tags)
  }
}

function serverForm(row: Row): Form {
  const { name, ip, description, port, agent_port, proxy_port, cidrs } = row as Row & Server
  return { name, ip, description, port, agent_port, proxy_port, cidr: cidrs.map(range => range.cidr).join('\n') }
}
