import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  Kind,
  parse,
  print,
  printType,
  specifiedDirectives,
  specifiedScalarTypes,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type ConstDirectiveNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type TypeDefinitionNode
} from 'graphql'
import { realSchema } from '../../apps/sandbox/src/testing/real-schema.ts'
import { documents } from '../../apps/server/src/integrations/shopify/documents.ts'

/** Documents that only the stand-in answers, for discounts that the shop sees indirectly. */
const BESIDE_THE_SHOP = [
  /* GraphQL */ `
    query ($code: String!) {
      codeDiscountNodeByCode(code: $code) {
        codeDiscount {
          ... on DiscountCodeBasic {
            title
            startsAt
            endsAt
            combinesWith {
              orderDiscounts
            }
            context {
              ... on DiscountBuyerSelectionAll {
                all
              }
            }
            customerGets {
              items {
                ... on AllDiscountItems {
                  allItems
                }
              }
            }
            minimumRequirement {
              ... on DiscountMinimumQuantity {
                greaterThanOrEqualToQuantity
              }
            }
          }
        }
      }
    }
  `
]

/** The fields of input variables that the stand-in reads. It refuses others, so that nothing is silently ignored. */
const INPUTS: Record<string, readonly string[]> = {
  DiscountAmountInput: ['amount', 'appliesOnEachItem'],
  DiscountCodeBasicInput: [
    'title',
    'code',
    'tags',
    'startsAt',
    'endsAt',
    'usageLimit',
    'appliesOncePerCustomer',
    'context',
    'customerGets',
    'combinesWith',
    'minimumRequirement'
  ],
  DiscountCombinesWithInput: ['orderDiscounts'],
  DiscountContextInput: ['all', 'customers'],
  DiscountCustomerGetsInput: ['items', 'value'],
  DiscountCustomerGetsValueInput: ['discountAmount', 'percentage'],
  DiscountCustomersInput: ['add', 'remove'],
  DiscountItemsInput: ['all'],
  DiscountMinimumQuantityInput: ['greaterThanOrEqualToQuantity'],
  DiscountMinimumRequirementInput: ['quantity', 'subtotal'],
  DiscountMinimumSubtotalInput: ['greaterThanOrEqualToSubtotal'],
  OrderTransactionInput: ['amount', 'gateway', 'kind', 'orderId', 'parentId'],
  ProductVariantsBulkInput: ['id', 'price'],
  RefundInput: ['currency', 'orderId', 'note', 'notify', 'transactions']
}

/** The part of the platform's Admin schema that the stand-in answers. */
export const platformSchema = (): string =>
  `# Cut out of testdata/admin_2026-07.json.gz by "npm run docs": do not edit.\n\n${cutSchema(
    realSchema(),
    [...Object.values(documents), ...BESIDE_THE_SHOP],
    INPUTS
  )}`

type Reached = Map<string, Set<string>>

/**
 * The part of a schema that documents use, as SDL: types, fields, arguments, enum values. An enum in an answer or a
 * variable is included with all values.
 * @param inputs the fields of each input variable's type
 * @throws if a document does not fit the schema, or an input is missing in `inputs`
 */
export function cutSchema(
  real: GraphQLSchema,
  documents: readonly string[],
  inputs: Record<string, readonly string[]>
): string {
  const members: Reached = new Map()
  const args: Reached = new Map()
  const directives = new Set<string>()
  const typeOf = (name: string): GraphQLNamedType => {
    const type = real.getType(name)
    if (!type) throw new Error(`The schema has no ${name}`)
    return type
  }
  const reach = (type: string, member?: string) => {
    const set = members.get(type) ?? new Set()
    members.set(type, set)
    if (member !== undefined) set.add(member)
  }

  /** Adds a type: an enum with all values, an input with its listed fields, an object without fields. */
  function reachType(type: GraphQLNamedType): void {
    if (isInputObjectType(type)) return reachInput(type.name)
    reach(type.name)
    if (isEnumType(type)) for (const value of type.getValues()) reach(type.name, value.name)
  }

  function reachInput(name: string): void {
    if (members.has(name)) return
    const listed = inputs[name]
    if (!listed) throw new Error(`${name} comes as a variable, and nothing says what of it is read`)
    const type = typeOf(name)
    if (!isInputObjectType(type)) throw new Error(`${name} is no input`)
    const fields = type.getFields()
    const required = Object.values(fields).filter(isRequiredInputField)
    for (const field of new Set([...listed, ...required.map(one => one.name)])) {
      const found = fields[field]
      if (!found) throw new Error(`${name} has no ${field}`)
      reach(name, field)
      reachType(getNamedType(found.type))
    }
  }

  for (const document of documents) {
    const parsed = parse(document)
    const wrong = validate(real, parsed)
    if (wrong.length > 0) throw new Error(wrong.map(({ message }) => message).join('\n'))
    const info = new TypeInfo(real)
    visit(
      parsed,
      visitWithTypeInfo(info, {
        Field: {
          enter(node) {
            const [parent, field] = [info.getParentType(), info.getFieldDef()]
            if (!parent || !field || field.name.startsWith('__')) return
            reach(parent.name, field.name)
            const key = `${parent.name}.${field.name}`
            const given = new Set(node.arguments?.map(({ name }) => name.value))
            const taken = field.args.filter(arg => given.has(arg.name) || isRequiredArgument(arg))
            args.set(key, new Set([...(args.get(key) ?? []), ...taken.map(arg => arg.name)]))
            for (const arg of taken) {
              const literal = arg.default?.literal
              reach(getNamedType(arg.type).name, literal?.kind === Kind.ENUM ? literal.value : undefined)
            }
            reachType(getNamedType(field.type))
          }
        },
        // Types that a document distinguishes.
        InlineFragment: node => {
          if (node.typeCondition) reach(node.typeCondition.name.value)
        },
        VariableDefinition: node => {
          reachType(typeOf(namedIn(print(node.type))))
        },
        ObjectField: node => {
          const parent = info.getParentInputType()
          const type = parent && getNamedType(parent)
          if (type) reach(type.name, node.name.value)
        },
        EnumValue: node => {
          const type = info.getInputType()
          if (type) reach(getNamedType(type).name, node.value)
        },
        Directive: node => {
          directives.add(node.name.value)
        }
      })
    )
  }
  reachInterfaces(real, members)
  for (const arg of directives) {
    const directive = real.getDirective(arg)
    for (const { type } of directive?.args ?? []) reach(getNamedType(type).name)
  }

  const builtIn = new Set(specifiedScalarTypes.map(({ name }) => name))
  const [query, mutation] = [real.getQueryType()?.name, real.getMutationType()?.name]
  const own = [...members.keys()].filter(name => !builtIn.has(name)).toSorted()
  return [
    `schema {\n  query: ${query}\n  mutation: ${mutation}\n}`,
    ...[...directives].flatMap(name => directiveText(real, name)),
    ...own.map(name => print(cut(parse(printType(typeOf(name))).definitions[0] as TypeDefinitionNode, members, args)))
  ].join('\n\n')
}

/** Makes objects implement the used interfaces and have their fields. An interface has at least its id. */
function reachInterfaces(real: GraphQLSchema, members: Reached): void {
  for (const [name, own] of members) {
    const type = real.getType(name)
    if (isInterfaceType(type) && own.size === 0) own.add('id')
  }
  for (const [name, own] of members) {
    const type = real.getType(name)
    if (!isObjectType(type)) continue
    for (const { name: above } of type.getInterfaces()) for (const field of members.get(above) ?? []) own.add(field)
  }
}

/** A definition reduced to what is used, without descriptions. */
function cut(definition: TypeDefinitionNode, members: Reached, args: Reached): TypeDefinitionNode {
  const name = definition.name.value
  const kept = members.get(name) ?? new Set()
  const bare = { description: undefined, directives: [] as ConstDirectiveNode[] }
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const fields = definition.fields
        ?.filter(field => kept.has(field.name.value))
        .map(field => ({
          ...field,
          ...bare,
          arguments: field.arguments
            ?.filter(arg => args.get(`${name}.${field.name.value}`)?.has(arg.name.value))
            .map(arg => ({ ...arg, ...bare }))
        }))
      const interfaces = definition.interfaces?.filter(one => members.has(one.name.value))
      return { ...definition, ...bare, fields, interfaces }
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      const fields = definition.fields?.filter(field => kept.has(field.name.value))
      return { ...definition, ...bare, fields: fields?.map(field => ({ ...field, ...bare })) }
    }
    case Kind.ENUM_TYPE_DEFINITION: {
      const values = definition.values?.filter(value => kept.has(value.name.value))
      return { ...definition, ...bare, values: values?.map(value => ({ ...value, ...bare })) }
    }
    case Kind.UNION_TYPE_DEFINITION:
      return { ...definition, ...bare, types: definition.types?.filter(one => members.has(one.name.value)) }
    case Kind.SCALAR_TYPE_DEFINITION:
      return { ...definition, ...bare }
  }
}

/** Directives that the library does not define itself. */
function directiveText(real: GraphQLSchema, name: string): string[] {
  const directive = real.getDirective(name)
  if (!directive || specifiedDirectives.some(one => one.name === name)) return []
  const args = directive.args.map(arg => `${arg.name}: ${String(arg.type)}`).join(', ')
  return [`directive @${name}(${args}) on ${directive.locations.join(' | ')}`]
}

const namedIn = (type: string): string => type.replaceAll(/[[\]!]/g, '')
