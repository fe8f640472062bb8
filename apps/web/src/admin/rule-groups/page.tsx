import type { AclGroup } from '@netlet/contract'
import { inventory } from '../../api/routes.ts'
import { AclGroupForm } from '../../kit/schemas.ts'
import { column, defineResource, idsField, integer, textField } from '../kit/index.ts'
import { useRules } from '../rules/use-rules.ts'

/** Groups of access rules, used to create users on a server by hand. */
export default defineResource({
  key: 'rule-groups',
  list: inventory.groups,
  nameOf: group => group.name,
  columns: [
    integer('id', { optional: true }),
    column('name', (group: AclGroup) => group.name, { lead: true }),
    column('description', (group: AclGroup) => group.description, { wide: true }),
    column('acls', (group: AclGroup) => group.acls.map(({ name }) => name).join(', '), { wide: true })
  ],
  sort: ['id'],
  form: {
    schema: AclGroupForm,
    fields: [textField('name'), textField('description'), idsField('acls', { useOptions: useRules })],
    create: inventory.createGroup,
    update: inventory.updateGroup,
    undo: true
  },
  remove: {
    route: inventory.deleteGroup,
    confirm: (t, group) => ({
      title: t('list.deleteTitle'),
      body: [t('list.deleteBody'), t('rule-groups.removal', { name: group.name })].join('\n'),
      danger: true
    })
  },
  csv: true
})
