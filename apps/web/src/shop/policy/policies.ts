export type Section = { title: string; paragraphs: string[] }
export type Policy = { intro: string; sections: Section[] }
export type Policies = Record<'privacy' | 'refund' | 'terms', Policy>
