import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { listQuery, page } from './list.ts'
import { Done, Id, IdName, IdParams, Money, MoneyInput, RuleId, Time, formVersion, text } from './shapes.ts'

export const AclRule = z.object({
  id: z.number(),
  name: z.string(),
  price: Money,
  shopify_variant_id: z.string(),
  description: z.string(),
  /** One domain a line. */
  acl_value: z.string(),
  created_at: Time,
  version: z.string()
})
export type AclRule = z.infer<typeof AclRule>

export const AclRuleForm = z.object({
  name: text(message('enter_name')),
  price: MoneyInput(message('enter_price')),
  shopify_variant_id: z.coerce
    .string({ error: message('enter_variant_id') })
    .trim()
    .regex(/^\d{1,20}$/, message('enter_variant_id')),
  acl_value: text(message('enter_rule'), 2_000_000),
  description: text(message('enter_description'), 2000)
})

export type AclRuleForm = z.output<typeof AclRuleForm>

export const AclGroup = z.object({
  id: z.number(),
  name: z.string(),
  description: z.string(),
  acls: z.array(IdName),
  version: z.string()
})
export type AclGroup = z.infer<typeof AclGroup>

export const AclGroupForm = z.object({
  name: text(message('enter_group_name')),
  description: text(message('enter_description'), 2000),
  acls: z
    .array(RuleId, { error: message('select_acl') })
    .min(1, message('select_acl'))
    .max(500)
})

export type AclGroupForm = z.output<typeof AclGroupForm>

export const Cidr = z.object({
  id: z.number(),
  cidr: z.string(),
  ip_count: z.number(),
  exclude_acl: z.array(IdName),
  delivery_count: z.number(),
  server_ids: z.array(z.number()),
  servers: z.array(IdName),
  created_at: Time,
  version: z.string()
})
export type Cidr = z.infer<typeof Cidr>

const count = z.union([z.string().regex(/^\d{1,9}$/), z.int().min(0)]).transform(Number)

const RuleParams = z.object({ id: RuleId })

const S = '/api/servers'

export const inventory = {
  rules: route('GET', `${S}/acls/`, {
    summary: 'Access rules',
    access: 'admin',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(AclRule)
  }),
  createRule: route('POST', `${S}/acls/`, {
    summary: 'Add an access rule',
    access: 'admin',
    body: AclRuleForm,
    reply: AclRule
  }),
  updateRule: route('PUT', `${S}/acls/:id/`, {
    summary: 'Edit an access rule; the agents of every order concerned follow',
    access: 'admin',
    params: RuleParams,
    body: AclRuleForm.extend(formVersion),
    reply: AclRule
  }),
  deleteRule: route('DELETE', `${S}/acls/:id/`, {
    summary: 'Delete an access rule without live leases',
    access: 'admin',
    params: RuleParams,
    reply: Done
  }),
  groups: route('GET', `${S}/acl-groups/`, {
    summary: 'Groups of access rules',
    access: 'admin',
    query: listQuery({ sort: ['id'], order: 'asc' }),
    reply: page(AclGroup)
  }),
  createGroup: route('POST', `${S}/acl-groups/`, {
    summary: 'Add a group',
    access: 'admin',
    body: AclGroupForm,
    reply: AclGroup
  }),
  updateGroup: route('PUT', `${S}/acl-groups/:id/`, {
    summary: 'Edit a group',
    access: 'admin',
    params: IdParams,
    body: AclGroupForm.extend(formVersion),
    reply: AclGroup
  }),
  deleteGroup: route('DELETE', `${S}/acl-groups/:id/`, {
    summary: 'Delete a group',
    access: 'admin',
    params: IdParams,
    reply: Done
  }),
  cidrs: route('GET', `${S}/cidrs/`, {
    summary: 'Address ranges',
    access: 'admin',
    query: listQuery({
      sort: ['id', 'cidr', 'delivery_count'],
      order: 'asc',
      filters: {
        delivery_count_exact: count.optional(),
        delivery_count_min: count.optional(),
        exclude_acl: RuleId.optional(),
        unreferenced: z
          .enum(['true', 'false', '1', '0'])
          .optional()
          .transform(value => value === 'true' || value === '1'),
        server_id: Id.optional()
      }
    }),
    reply: page(Cidr)
  }),
  updateCidr: route('PUT', `${S}/cidrs/:id/`, {
    summary: 'Set the rules that this range is never sold with',
    access: 'admin',
    params: IdParams,
    body: z.object({ exclude_acl: z.array(RuleId).max(500), ...formVersion }),
    reply: Cidr
  }),
  cleanUnusedCidrs: route('POST', `${S}/cidrs/clean_unused/`, {
    summary: 'Remove ranges that belong to no server and hold no lease',
    access: 'admin',
    body: z.object({ include_soft_deleted: z.boolean().default(false) }).optional(),
    reply: z.object({
      results: z.object({
        deleted_count: z.number(),
        cidr_details: z.array(z.object({ id: z.number(), cidr: z.string() }))
      }),
      deleted_count: z.number(),
      cidr_details: z.array(z.object({ id: z.number(), cidr: z.string() }))
    })
  })
}
