/** For what a user has answered: see ../tables/answered-questions.ts. */
export const answeredQuestions = `
create index elicitations_of_user on elicitations (tenant, user_id, created_at);
`;
