import type { Faq } from '@netlet/contract'
import { support } from '../../api/routes.ts'
import { FaqForm } from '../../kit/schemas.ts'
import { column, defineResource, integer, areaField } from '../kit/index.ts'
import classes from './faqs.module.css'

/** The questions and answers that the help page searches. */
export default defineResource({
  key: 'faqs',
  list: support.faqs,
  nameOf: row => row.question,
  columns: [
    integer('id', { optional: true }),
    column('question', (row: Faq) => <span className={classes.text}>{row.question}</span>, { lead: true }),
    column('answer', (row: Faq) => <span className={classes.text}>{row.answer}</span>, { wide: true })
  ],
  sort: ['id'],
  form: {
    schema: FaqForm,
    fields: [areaField('question', { rows: 2 }), areaField('answer', { rows: 10 })],
    create: support.createFaq,
    update: support.updateFaq,
    undo: true
  },
  remove: {
    route: support.deleteFaq,
    confirm: (t, { question }) => ({
      title: t('list.deleteTitle'),
      body: [t('list.deleteBody'), question, t('faqs.removal')].join('\n'),
      danger: true
    }),
    undo: row => ({ route: support.restoreFaq, input: { params: { id: row.id } } })
  },
  csv: true
})
